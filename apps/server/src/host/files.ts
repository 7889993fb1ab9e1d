import { access, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Whether the path exists, as far as this process may see. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Makes a folder's names survive a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}

/** Looks at the path, or at the nearest existing folder above it. */
export async function nearest<T>(path: string, look: (path: string) => Promise<T>): Promise<T> {
  return look(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || path === dirname(path)) throw error;
    return nearest(dirname(path), look);
  });
}
