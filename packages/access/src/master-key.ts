import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { masterKeyBytes } from './secret-box.ts';

/** A master key file that cannot be used. The message says what to do. */
export class MasterKeyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MasterKeyError';
  }
}

/**
 * The master key in `file`: 32 raw bytes, mode 0600. Made at random when the file is absent (its folder must exist).
 *
 * A new key is written and synced under a name of its own and then hard-linked to `file`, which fails when another
 * process was first: then that one's key is used. So no process ever reads half a key or replaces one in use, and
 * kill -9 leaves at worst a 0600 file `.<name>.<random>.new` with a key that nothing was sealed under.
 */
export async function loadMasterKey(file: string): Promise<Buffer> {
  return (await readKey(file)) ?? (await makeKey(file));
}

async function makeKey(file: string): Promise<Buffer> {
  const folder = dirname(file);
  const fresh = join(folder, `.${basename(file)}.${randomBytes(8).toString('hex')}.new`);
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.writeFile(randomBytes(masterKeyBytes));
    await handle.sync();
    await link(fresh, file).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await handle.close();
    await unlink(fresh);
  }
  await syncFolder(folder);
  const key = await readKey(file);
  if (!key) throw new MasterKeyError(`The master key file ${file} was removed while it was being made.`);
  return key;
}

/** Null when there is no such file. */
async function readKey(file: string): Promise<Buffer | null> {
  let handle: FileHandle;
  try {
    // O_NONBLOCK: opening a FIFO must not wait for a writer.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    const { mode, uid, size } = await handle.stat();
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) {
      throw new MasterKeyError(`The master key ${file} is not a regular file.`);
    }
    if ((mode & 0o077) !== 0) {
      const octal = (mode & 0o777).toString(8).padStart(4, '0');
      throw new MasterKeyError(
        `The master key file ${file} is open to other users (mode ${octal}). Run: chmod 600 ${file}`,
      );
    }
    const self = process.getuid?.();
    if (self !== undefined && uid !== self && uid !== 0) {
      throw new MasterKeyError(
        `The master key file ${file} belongs to another user (uid ${uid}; this one is ${self}).`,
      );
    }
    if (size !== masterKeyBytes) {
      throw new MasterKeyError(
        `The master key file ${file} has ${size} bytes instead of ${masterKeyBytes}. Restore it from a backup: without it, stored keys cannot be read.`,
      );
    }
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
