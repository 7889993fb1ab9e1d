/** Attacks of strangers on the API from outside, without a key. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type StrangersKind = 'dead' | 'stalled' | 'resets';

export interface Strangers {
  /** Ends them; gives how often they were answered. */
  end(): Promise<number>;
}

const program = fileURLToPath(new URL('programs/strangers.mjs', import.meta.url));

/** So many at once, from one address of loopback; resolves when all of them are there, or were refused. */
export async function startStrangers(
  what: StrangersKind,
  url: string,
  count: number,
  from: string,
): Promise<Strangers> {
  const { port } = new URL(url);
  const child = spawn(process.execPath, [program, what, port, String(count), from], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the strangers (${what}) have ended`);
    return value;
  };
  await next();
  return {
    async end() {
      const gone = once(child, 'exit');
      child.stdin.end();
      const asked = Number(await next());
      await gone;
      return asked;
    },
  };
}
