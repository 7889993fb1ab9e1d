import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { BackupError } from './errors.ts';

/**
 * One backup of a data folder at a time. The kernel gives the lock back with the process. Rejects when another process of this
 * host has it.
 */
export async function lockBackups(dataDir: string): Promise<() => void> {
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  const locked = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) =>
    locked.reject(error.code === 'EADDRINUSE' ? new BackupError(`Another backup of ${dataDir} is being made.`) : error),
  );
  server.listen({ path: `\0lodge-backup-${name}` }, locked.resolve);
  await locked.promise;
  server.unref();
  return () => server.close();
}
