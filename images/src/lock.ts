/**
 * Locks between builders in different processes, held by the kernel (flock(2)). A lock ends with its process in every case,
 * so none is ever left behind. Node has no flock, so util-linux's command holds it while a pipe from this process stays
 * open.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ImageError } from './errors.ts';

export interface Lock {
  release(): Promise<void>;
}

/** Waits for the lock, and calls `onWait` once when it is not free at first. Rejects with the signal's reason when that aborts. */
export async function takeLock(file: string, signal: AbortSignal, onWait: () => void): Promise<Lock> {
  const free = await tryLock(file);
  if (free !== null) return free;
  onWait();
  const lock = await hold(file, [], signal);
  signal.throwIfAborted();
  if (lock === null) throw new ImageError(`the lock ${file} could not be taken`);
  return lock;
}

/** Takes the lock; null when another process holds it. */
export function tryLock(file: string): Promise<Lock | null> {
  return hold(file, ['--nonblock'], AbortSignal.timeout(60_000));
}

async function hold(file: string, options: readonly string[], signal: AbortSignal): Promise<Lock | null> {
  signal.throwIfAborted();
  const argv = ['--exclusive', '--no-fork', ...options, file, 'sh', '-c', 'echo held; exec cat'];
  // It has its own process group, so Ctrl-C in a terminal does not take the lock from a builder that is still ending.
  const child = spawn('flock', argv, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined); // Only its end counts.
  const ended = once(child, 'close');
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  try {
    const held = await Promise.race([once(child.stdout, 'data').then(() => true), ended.then(() => false)]);
    if (!held) return null;
  } finally {
    signal.removeEventListener('abort', kill);
  }
  return {
    release: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
