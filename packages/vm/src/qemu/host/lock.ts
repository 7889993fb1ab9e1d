import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { throwIfAborted, until } from '../../waiting.ts';

export interface LockWait {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Called once when somebody else has the lock. */
  readonly onBusy?: () => void;
}

/**
 * A lock between processes of this host: a listening abstract unix socket. The kernel gives it to one and takes it back the
 * moment that process ends, however it ends, so there is no stale lock to break.
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

/** So many hold a lock side by side that is shared; one more waits. */
const shares = 8;

/** A lock that several hold at a time, and none while somebody has it alone. */
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

/** The same lock for one alone; null when anybody has it. */
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
