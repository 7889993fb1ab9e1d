/**
 * Reads files in folders of the database's user, who may replace them by a pipe without a writer, a link, or a file without
 * end. Root reads only the beginning of a regular file.
 */
import { constants, open } from 'node:fs/promises';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Bytes that are read. Both files have less than 200 (postmaster.pid: eight short lines). */
const maxBytes = 4096;

/** Reads a file; null when there is none. Throws when it is no regular file. Bytes beyond `maxBytes` are not read. */
export async function readForeign(path: string): Promise<string | null> {
  const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    // A link and a socket are reported alike.
    if (error.code === 'ELOOP' || error.code === 'ENXIO') throw notRegular(path);
    throw error;
  });
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) throw notRegular(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

const notRegular = (path: string): Error =>
  new Error(`${path} is no regular file: the database's user has replaced it.`);
