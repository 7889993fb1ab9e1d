/**
 * Makes the kernel page out the memory of a control group with living processes.
 *
 * - Version 2, `memory.reclaim` (Linux 5.19): as many bytes as are written to it, and `EAGAIN` if there were fewer.
 * - Version 1, `memory.force_empty`: all that can go.
 *
 * The write returns when the work is done, seconds later, and the kernel gives it up when its process is killed. So a child
 * process writes, with the lowest priority, and takes no thread of this process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exists } from './files.ts';
import { environment } from './process.ts';

const maxMs = 60_000;
/** Longest wait for the end of a child that is killed. It goes on alone: nobody's memory is worse for it. */
const endingMs = 500;

/** Writes to that file of the group. Ends within `endingMs` of the signal, which is no error. */
export async function pageOut(group: string, file: string, signal: AbortSignal): Promise<void> {
  const path = join(group, file);
  if (signal.aborted || !(await exists(path))) return;
  const text = file === 'memory.reclaim' ? (await readFile(join(group, 'memory.current'), 'utf8')).trim() : '0';
  const child = spawn('nice', ['-n', '19', 'sh', '-c', 'echo "$1" > "$2"', 'sh', text, path], {
    env: environment,
    stdio: 'ignore',
  });
  const over = once(child, 'close');
  over.catch(() => undefined);
  const ends = AbortSignal.any([signal, AbortSignal.timeout(maxMs)]);
  const killed = Promise.withResolvers<void>();
  const kill = (): void => {
    child.kill('SIGKILL');
    killed.resolve(sleep(endingMs, undefined, { ref: false }));
  };
  ends.addEventListener('abort', kill, { once: true });
  if (ends.aborted) kill();
  // Memory that stays, because swap is full or it belongs to others, makes the write fail.
  await Promise.race([over, killed.promise]).finally(() => ends.removeEventListener('abort', kill));
}
