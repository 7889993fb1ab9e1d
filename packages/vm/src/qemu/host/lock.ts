import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { throwIfAborted, until } from '../../waiting.ts';

export interface LockWait {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Called once when another process has the lock. */
  readonly onBusy?: () => void;
}

/**
 * A lock between processes of this host: a listening abstract unix socket. The kernel gives it to one process and takes it
 * back when that process ends in any way, so there is no stale lock to break.
 */
export async function lock(name: string, wait: LockWait): Promise<() => void> {
  const address = `\0lodge-vm-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
  let reported = false;
  return until(
    async () => {
      const release = await tryBind(address);
      if (release === null && !reported) {
        reported = true;
        wait.onBusy?.();
      }
      if (wait.signal?.aborted) release?.();
      throwIfAborted(wait.signal);
      return release;
    },
    { what: `lock ${name}`, everyMs: 50, timeoutMs: wait.timeoutMs, ...(wait.signal ? { signal: wait.signal } : {}) },
  );
}

/** Most holders of a shared lock side by side; one more waits. */
const shares = 8;

/** Takes a lock that several may hold at a time, unless one holds it alone. */
export function lockShared(name: string, wait: LockWait): Promise<() => void> {
  const one = async (): Promise<(() => void) | null> => {
    for (let share = 0; share < shares; share += 1) {
      const release = await lock(`${name} ${share}`, { timeoutMs: 0 }).catch(() => null);
      if (release) return release;
    }
    throwIfAborted(wait.signal);
    return null;
  };
  return until(one, { what: `lock ${name}`, everyMs: 50, ...wait });
}

/** Takes the same lock alone; returns null when anybody has it. */
export async function tryLockAlone(name: string): Promise<(() => void) | null> {
  const held: (() => void)[] = [];
  for (let share = 0; share < shares; share += 1) {
    const release = await lock(`${name} ${share}`, { timeoutMs: 0 }).catch(() => null);
    if (release) {
      held.push(release);
      continue;
    }
    for (const each of held) each();
    return null;
  }
  return () => {
    for (const release of held) release();
  };
}

async function tryBind(address: string): Promise<(() => void) | null> {
  const server = createServer((socket) => socket.destroy());
  const bound = Promise.withResolvers<void>();
  server.once('error', bound.reject).listen(address, bound.resolve);
  try {
    await bound.promise;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
  server.unref();
  return () => server.close();
}
