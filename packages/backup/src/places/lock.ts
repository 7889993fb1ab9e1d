import { createServer } from 'node:net';
import { BackupError } from '../errors.ts';

/** A lock by name that the kernel gives back with the process. Rejects when another process of this host has it. */
export async function lockByName(name: string, place: string): Promise<() => void> {
  const server = createServer();
  const locked = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) =>
    locked.reject(
      error.code === 'EADDRINUSE' ? new BackupError(`Another process writes to ${place} just now.`) : error,
    ),
  );
  server.listen({ path: `\0lodge-backup-${name}` }, locked.resolve);
  await locked.promise;
  server.unref();
  return () => server.close();
}
