import { setTimeout as sleep } from 'node:timers/promises';
import { startTimeOf } from '../host/instance-lock.ts';
import type { ProcessMark } from '../host/instance-lock.ts';
import { CommandError } from './command.ts';

/** The control plane gives itself 30 s to end (run.ts). */
const closeTimeoutMs = 40_000;
const killTimeoutMs = 5_000;

/** Asks a process to end, and makes it end when it does not. */
export async function endControlPlane(mark: ProcessMark): Promise<'stopped' | 'killed'> {
  process.kill(mark.pid, 'SIGTERM');
  if (await ended(mark, closeTimeoutMs)) return 'stopped';
  process.kill(mark.pid, 'SIGKILL');
  if (await ended(mark, killTimeoutMs)) return 'killed';
  throw new CommandError(`The control plane (pid ${mark.pid}) does not end.`);
}

async function ended(mark: ProcessMark, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while ((await startTimeOf(mark.pid)) === mark.startTime) {
    if (performance.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}
