/**
 * Backups of one or more Lodges in a folder. All of it is sealed under a key that comes from the master key (`cipher.ts`).
 *
 *   <folder>/<master key id>/chunks/<ab>/<name>   bytes that backups hold, once, by the HMAC of what they are
 *   <folder>/<master key id>/backups/<name>       a backup's list: what it holds and of which chunks; its name is its time
 *
 * A list is written last, by a rename, when its chunks are on the disk: what was cut off has no list and is no backup. Chunks
 * that no list names are trusted by nobody: the next backup writes them anew, and removes the rest. Lists go before chunks.
 * After a change of the master key the next backup copies everything, and older ones need the older key.
 *
 * Whoever else writes into the folder cannot make us read or write another one: links are followed nowhere in it, a file is
 * bounded before it is read, and only files with names of ours are ever removed.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import type { Dirent } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Cipher } from './cipher.ts';
import { BackupError } from './errors.ts';

const run = promisify(execFile);
/** Bytes of one chunk: a disk's changes touch few of them, and a disk of 1 GiB has 2,048. */
export const chunkBytes = 512 * 1024;
/** A list is JSON: about 45 bytes a chunk. */
const maxListBytes = 1024 * 2 ** 20;
const listName = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z-[0-9a-f]{6}$/;
const keyFolder = /^[0-9a-f]{8}$/;
const chunkName = /^[0-9a-f]{40}$/;
const chunkFolder = /^[0-9a-f]{2}$/;
/** What a write that was cut off leaves. */
const unfinished = /^[\w-]{31,40}\.new-[0-9a-f]{12}$/;
/** Compressed and sealed, bytes that do not compress are a little more. */
const maxSealedChunkBytes = chunkBytes + 16 * 1024;

export interface Written {
  chunks: number;
  bytes: number;
}

/** Opens the repository for backups under this master key. `create`: makes the folder, mode 0700, where it is missing. */
export async function openRepository(
  folder: string,
  { masterKey, keyId, create }: { readonly masterKey: Buffer; readonly keyId: string; readonly create: boolean },
): Promise<Repository> {
  if (create) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await ownFolder(join(folder, keyId));
  } else if (!(await isFolder(join(folder, keyId)))) {
    const keys = await keysOf(folder);
    throw new BackupError(
      keys.length === 0
        ? `There is no backup in ${folder}.`
        : `The backups in ${folder} were made under the master key ${keys.join(' or ')}, and the one given is ${keyId}. Give the key that belongs to them.`,
    );
  }
  return new Repository(folder, keyId, new Cipher(masterKey));
}

export class Repository {
  /** What this process has written: new chunks alone. */
  readonly written: Written = { chunks: 0, bytes: 0 };
  private readonly folder: string;
  private readonly keyId: string;
  private readonly cipher: Cipher;
  /** Chunks that a whole backup holds, or that this process has written. */
  private readonly trusted = new Set<string>();
  /** That this process has looked at. */
  private readonly folders = new Set<string>();

  constructor(folder: string, keyId: string, cipher: Cipher) {
    this.folder = folder;
    this.keyId = keyId;
    this.cipher = cipher;
  }

  private get lists(): string {
    return join(this.folder, this.keyId, 'backups');
  }
  private get chunks(): string {
    return join(this.folder, this.keyId, 'chunks');
  }

  /** Names of the backups under this key, the oldest first. */
  async backups(): Promise<string[]> {
    return backupNames(this.lists);
  }

  /** One process at a time writes here. The kernel gives the lock back with the process. Resolves with what gives it back. */
  async lock(): Promise<() => void> {
    const { dev, ino } = await stat(this.folder);
    const server = createServer();
    const locked = Promise.withResolvers<void>();
    server.once('error', (error: NodeJS.ErrnoException) =>
      locked.reject(
        error.code === 'EADDRINUSE' ? new BackupError(`Another process writes to ${this.folder} just now.`) : error,
      ),
    );
    server.listen({ path: `\0lodge-backup-${dev}-${ino}` }, locked.resolve);
    await locked.promise;
    server.unref();
    return () => server.close();
  }

  /** Learns which chunks need not be written again: those of whole backups that are still there. */
  async trust(lists: readonly Iterable<string>[]): Promise<void> {
    const there = new Set(await this.present());
    for (const list of lists) for (const name of list) if (there.has(name)) this.trusted.add(name);
  }

  isTrusted(name: string): boolean {
    return this.trusted.has(name);
  }

  /** Gives the chunk's name. It is on the disk once `commit` resolves. */
  async put(bytes: Uint8Array): Promise<string> {
    const name = this.cipher.nameOf(bytes);
    if (this.trusted.has(name)) return name;
    const sealed = await this.cipher.seal(bytes, name);
    const folder = join(this.chunks, name.slice(0, 2));
    if (!this.folders.has(folder)) {
      await ownFolder(this.chunks);
      await ownFolder(folder);
      this.folders.add(folder);
    }
    await replace(join(folder, name), sealed, false);
    this.trusted.add(name);
    this.written.chunks += 1;
    this.written.bytes += sealed.length;
    return name;
  }

  /** Throws `BackupError` with the chunk's path when it is missing or a bit of it has changed. */
  async get(name: string): Promise<Buffer> {
    if (!chunkName.test(name)) throw new BackupError(`A backup in ${this.folder} names a chunk that cannot be.`);
    const path = join(this.chunks, name.slice(0, 2), name);
    const sealed = await readBounded(path, maxSealedChunkBytes);
    const bytes = await this.cipher.open(sealed, name, path, chunkBytes);
    if (this.cipher.nameOf(bytes) !== name) throw new BackupError(`${path} is damaged: it is not what was written.`);
    return bytes;
  }

  /** Makes a backup of what was put: from here on it is one. Gives its name. */
  async commit(list: unknown, now: Date): Promise<string> {
    await ownFolder(this.lists);
    // One call for thousands of files: all that was written to this file system is on the disk when it ends.
    await run('sync', ['-f', this.lists]);
    const time = now.toISOString().slice(0, 23).replaceAll(/[:.]/g, '-');
    const name = `${time}Z-${randomBytes(3).toString('hex')}`;
    const sealed = await this.cipher.seal(Buffer.from(JSON.stringify(list)), `backup ${name}`);
    await replace(join(this.lists, name), sealed, true);
    this.written.bytes += sealed.length;
    return name;
  }

  /** The backup's list, as it was given to `commit`. */
  async list(name: string): Promise<unknown> {
    const path = join(this.lists, name);
    if (!listName.test(name) || !(await backupNames(this.lists)).includes(name)) {
      throw new BackupError(`There is no backup ${name} in ${this.lists}.`);
    }
    const sealed = await readBounded(path, maxListBytes);
    return JSON.parse((await this.cipher.open(sealed, `backup ${name}`, path, maxListBytes)).toString()) as unknown;
  }

  /** Takes backups of this key away, but for the newest `keep`; gives those that went. */
  async forget(keep: number): Promise<string[]> {
    const gone = (await this.backups()).slice(0, -keep);
    for (const name of gone) await rm(join(this.lists, name));
    return gone;
  }

  /** Removes chunks that none of the lists names, and what was half written. */
  async sweep(lists: readonly Iterable<string>[]): Promise<void> {
    const needed = new Set<string>();
    for (const list of lists) for (const name of list) needed.add(name);
    for (const folder of await this.chunkFolders()) {
      for (const name of await fileNames(folder)) {
        if ((chunkName.test(name) && !needed.has(name)) || unfinished.test(name)) await rm(join(folder, name));
      }
    }
    for (const name of await fileNames(this.lists)) if (unfinished.test(name)) await rm(join(this.lists, name));
  }

  private async present(): Promise<string[]> {
    const folders = await this.chunkFolders();
    return (await Promise.all(folders.map(fileNames))).flat();
  }

  private async chunkFolders(): Promise<string[]> {
    const names = (await folderNames(this.chunks)).filter((name) => chunkFolder.test(name));
    return names.map((name) => join(this.chunks, name));
  }
}

async function backupNames(folder: string): Promise<string[]> {
  return (await fileNames(folder)).filter((name) => listName.test(name)).toSorted();
}

/** Master keys that backups in a folder were made under. */
async function keysOf(folder: string): Promise<string[]> {
  return (await folderNames(folder)).filter((name) => keyFolder.test(name));
}

async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  // A pipe of that name must not be waited for.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((cause: unknown) => {
    throw new BackupError(`${path} is missing or cannot be read.`, { cause });
  });
  try {
    const { size } = await regular(file, path);
    if (size > maxBytes) throw new BackupError(`${path} is damaged: it is larger than anything that was written.`);
    const bytes = Buffer.alloc(size);
    let at = 0;
    while (at < size) {
      const { bytesRead } = await file.read(bytes, at, size - at, at);
      if (bytesRead === 0) throw new BackupError(`${path} is cut short.`);
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

async function regular(file: FileHandle, path: string): Promise<{ readonly size: number }> {
  const found = await file.stat();
  if (!found.isFile()) throw new BackupError(`${path} is damaged: it is no file.`);
  return found;
}

async function replace(path: string, bytes: Buffer, durable: boolean): Promise<void> {
  const next = `${path}.new-${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(next, 'wx', 0o600);
    try {
      await file.chmod(0o600);
      await file.writeFile(bytes);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (cause) {
    await rm(next, { force: true }).catch(() => undefined);
    throw new BackupError(`${path} cannot be written: ${(cause as Error).message}`, { cause });
  }
  if (!durable) return;
  const folder = await open(join(path, '..'), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Makes the folder where it is missing. Rejects when its name leads elsewhere. */
async function ownFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (!(await lstat(path)).isDirectory()) throw new BackupError(`${path} is no folder, and must be one.`);
}

const fileNames = async (folder: string): Promise<string[]> =>
  (await entriesOf(folder)).filter((entry) => entry.isFile()).map(({ name }) => name);

const folderNames = async (folder: string): Promise<string[]> =>
  (await entriesOf(folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name);

async function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
