import { open, readdir } from 'node:fs/promises';

/** Makes a file's bytes, or a folder's names, survive a loss of power. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Returns the names in a folder; none when it is absent. */
export async function entries(path: string): Promise<string[]> {
  return readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
