import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { throwIfAborted, until } from '../waiting.ts';

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
  let told = false;
  return until(
    async () => {
      const release = await tryBind(address);
      if (release === null && !told) {
        told = true;
        wait.onBusy?.();
      }
      if (wait.signal?.aborted) release?.();
      throwIfAborted(wait.signal);
      return release;
    },
    { what: `lock ${name}`, everyMs: 50, timeoutMs: wait.timeoutMs, ...(wait.signal ? { signal: wait.signal } : {}) },
  );
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
