/** One thing that a hostile account or strangers do, and how it is done in a guest. */
import type { World } from './world.ts';

export interface Attack {
  readonly name: string;
  readonly on: 'time' | 'memory' | 'disk' | 'network' | 'money';
  /** Number of the finding of the second review in docs/security.md that it was found by. */
  readonly finding?: number;
  /** Its effect on a guest stays, so it is the last. */
  readonly isForGood?: true;
  /** Goes on for so many milliseconds, or a little longer; resolves with what came of it, for people. */
  run(world: World, ms: number): Promise<string>;
}

/** One attack of guest.mjs, as root. Rejects where it did not run to its end. */
export async function runInGuest(world: World, id: string, name: string, ms: number): Promise<string> {
  const guest = await world.guest(id);
  const argv = ['node', '/srv/guest.mjs', name, String(ms)];
  const { exitCode, stdout, stderr } = await guest.exec({ argv, user: 'root', timeoutMs: ms + 60_000 });
  return exitCode === 0 ? stdout.trim() : `exit ${exitCode}: ${stderr.slice(-200)}`;
}

/** So many at once, again and again; what they are answered is counted. */
export async function again(
  ms: number,
  atOnce: number,
  ask: (signal: AbortSignal) => Promise<number>,
): Promise<string> {
  const signal = AbortSignal.timeout(ms);
  const counts: Record<string, number> = {};
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      const status = await ask(signal).catch(() => 'cut');
      counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return JSON.stringify(counts);
}
