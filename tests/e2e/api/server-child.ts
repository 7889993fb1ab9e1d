import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { holderOf } from './world.ts';
import type { ServerOptions } from './world.ts';

export interface ServerChild {
  readonly url: string;
  readonly pid: number;
  /** The host that owns its agents. */
  readonly holder: string;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
}

/** A server as a child process over the same database as others. */
export async function spawnServer(options: Omit<ServerOptions, 'host' | 'onError'>): Promise<ServerChild> {
  const entry = fileURLToPath(new URL('server-process.ts', import.meta.url));
  const child = spawn(process.execPath, [entry], {
    env: { ...process.env, API_SERVER: JSON.stringify(options) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const url = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => String(line)),
    gone.then(() => Promise.reject(new Error('the server ended before it listened'))),
  ]);
  return {
    url,
    pid: child.pid!,
    holder: holderOf(child.pid!),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
