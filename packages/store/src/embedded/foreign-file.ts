/**
 * Files in folders of the database's user, who may put anything in their place: a pipe that nobody writes to, a link, a file
 * without end. Root reads the beginning of a regular file and nothing else.
 */
import { constants, open } from 'node:fs/promises';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Both files have less than 200 bytes (postmaster.pid: eight short lines). */
const maxBytes = 4096;

/** Null when there is none. Throws for what is no regular file; what follows the first `maxBytes` is not read. */
export async function readForeign(path: string): Promise<string | null> {
  const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    // A link; a socket; both are told alike.
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
