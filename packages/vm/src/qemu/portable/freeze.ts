/**
 * A VM stands still for the time of one copy. Its disk is then as if its emulator had been killed at that moment. Every
 * start copes with that state, and all data that the guest knows to be on its disk is in the file.
 *
 * The freezing process may be killed. So a process in a session of its own waits at the end of a pipe. It lets the emulator
 * go on when the pipe closes, which the kernel ensures at every end, or when the time is over. It exists before the VM is
 * frozen.
 */
import { spawn } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { VmError } from '@lodge/ports';
import { isAlive } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';

/** The longest that a VM stands still. */
export const maxFreezeMs = 120_000;
/** Bound on the stop: a thread that waits for the disk stops when it has its answer. */
const stopTimeoutMs = 10_000;

/**
 * A service manager that ends this process signals all processes that it started. A line says that this process has let the
 * emulator go on itself: a later signal would end the next freeze.
 */
const guard = `trap '' HUP INT TERM; timeout ${maxFreezeMs / 1000} sh -c 'read -r _' || kill -CONT "$1"`;

/** Rejects with `gone` when the process does not exist, with `timeout` when it does not stop or stood still for too long. */
export async function whileFrozen<T>(mark: ProcessMark, work: () => Promise<T>): Promise<T> {
  if (!isAlive(mark)) throw new VmError('gone', `process ${mark.pid} has ended`);
  const watcher = spawn('sh', ['-c', guard, 'sh', String(mark.pid)], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => watcher.once('spawn', resolve).once('error', reject));
  watcher.unref();
  const began = performance.now();
  try {
    process.kill(mark.pid, 'SIGSTOP');
    await awaitStopped(mark);
    const result = await work();
    if (!(await isStopped(mark)) || performance.now() - began > maxFreezeMs) {
      throw new VmError('timeout', `process ${mark.pid} did not stand still for as long as the copy took`);
    }
    return result;
  } finally {
    if (isAlive(mark)) process.kill(mark.pid, 'SIGCONT');
    watcher.stdin.end('done\n');
  }
}

async function awaitStopped(mark: ProcessMark): Promise<void> {
  const deadline = performance.now() + stopTimeoutMs;
  while (!(await isStopped(mark))) {
    if (!isAlive(mark)) throw new VmError('gone', `process ${mark.pid} has ended`);
    if (performance.now() > deadline) throw new VmError('timeout', `process ${mark.pid} does not stop`);
    await sleep(2);
  }
}

/** Whether all of its threads have stopped, because each may write. */
async function isStopped({ pid }: ProcessMark): Promise<boolean> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const states = await Promise.all(
    tasks.map(async (task) => {
      const stat = await readFile(`/proc/${pid}/task/${task}/stat`, 'latin1').catch(() => null);
      return stat === null ? 'T' : stat.slice(stat.lastIndexOf(')') + 2)[0];
    }),
  );
  return tasks.length > 0 && states.every((state) => state === 'T');
}
