/**
 * Locks between builders in different processes, as the kernel keeps them (flock(2)): a lock ends with the process that holds
 * it, however that ends, so none is ever left behind. Node has no flock, so util-linux's holds it, for as long as a pipe from
 * this process stays open.
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

/** The lock, or null when another holds it. */
export function tryLock(file: string): Promise<Lock | null> {
  return hold(file, ['--nonblock'], AbortSignal.timeout(60_000));
}

async function hold(file: string, options: readonly string[], signal: AbortSignal): Promise<Lock | null> {
  signal.throwIfAborted();
  const argv = ['--exclusive', '--no-fork', ...options, file, 'sh', '-c', 'echo held; exec cat'];
  // In a group of its own: Ctrl-C in a terminal must not take the lock from a builder that is still ending.
  const child = spawn('flock', argv, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined); // Its end is what counts.
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
