/**
 * Reads backups of the form before restic, in a folder: for one release. `<folder>/<master key id>/chunks/<ab>/<name>` holds
 * bytes by their HMAC, and `<folder>/<master key id>/backups/<name>` is the sealed list of a backup. No link is followed,
 * and a file is bounded before it is read.
 */
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupError, BackupMissingError } from '@lodge/backup';
import { Cipher } from './cipher.ts';

export const chunkBytes = 512 * 1024;
const maxListBytes = 1024 * 2 ** 20;
/** Compressed and sealed, bytes that do not compress are a little more. */
const maxSealedChunkBytes = chunkBytes + 16 * 1024;
const listName = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z-[0-9a-f]{6}$/;
const chunkName = /^[0-9a-f]{40}$/;

export class RepositoryBefore {
  private readonly folder: string;
  private readonly cipher: Cipher;

  constructor(place: string, masterKey: Buffer, keyId: string) {
    this.folder = join(place, keyId);
    this.cipher = new Cipher(masterKey);
  }

  /** Names of the backups under this key, the oldest first. */
  async backups(): Promise<string[]> {
    const names = await readdir(join(this.folder, 'backups')).catch(() => []);
    return names.filter((name) => listName.test(name)).toSorted();
  }

  async list(name: string): Promise<unknown> {
    const path = join(this.folder, 'backups', name);
    const sealed = listName.test(name) ? await readBounded(path, maxListBytes) : null;
    if (sealed === null) throw new BackupMissingError(`There is no backup ${name} in ${this.folder}.`);
    return JSON.parse((await this.cipher.open(sealed, `backup ${name}`, path, maxListBytes)).toString()) as unknown;
  }

  /** Throws `BackupError` with the chunk's path when it is missing or a bit of it has changed. */
  async get(name: string): Promise<Buffer> {
    if (!chunkName.test(name)) throw new BackupError(`A backup in ${this.folder} names a chunk that cannot be.`);
    const path = join(this.folder, 'chunks', name.slice(0, 2), name);
    const sealed = await readBounded(path, maxSealedChunkBytes);
    if (sealed === null) throw new BackupError(`${path} is missing.`);
    const bytes = await this.cipher.open(sealed, name, path, chunkBytes);
    if (this.cipher.nameOf(bytes) !== name) throw new BackupError(`${path} is damaged: it is not what was written.`);
    return bytes;
  }
}

async function readBounded(path: string, maxBytes: number): Promise<Buffer | null> {
  // The open must not wait for a pipe of that name.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null;
    throw new BackupError(`${path} cannot be read.`, { cause });
  });
  if (file === null) return null;
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new BackupError(`${path} is damaged: it is no file.`);
    if (found.size > maxBytes)
      throw new BackupError(`${path} is damaged: it is larger than anything that was written.`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(found.size), 0, found.size, 0);
    if (bytesRead !== found.size) throw new BackupError(`${path} is cut short.`);
    return buffer;
  } finally {
    await file.close();
  }
}
