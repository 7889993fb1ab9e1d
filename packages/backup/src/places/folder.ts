/**
 * A folder as a place for backups. Whoever else writes into it cannot make us read or write another one: links are followed
 * nowhere in it, and a file is bounded before it is read.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import type { Dirent } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { BackupError } from '../errors.ts';
import { lockByName } from './lock.ts';
import type { Place, PlaceEntry } from './place.ts';

const run = promisify(execFile);

/** Its folders have mode 0700 and its files 0600. */
export class FolderPlace implements Place {
  readonly name: string;
  /** That this process has looked at. */
  private readonly known = new Set<string>();

  constructor(folder: string) {
    this.name = folder;
  }

  where(path: string): string {
    return join(this.name, path);
  }

  async prepare(folder: string): Promise<void> {
    await mkdir(this.name, { recursive: true, mode: 0o700 });
    await ownFolder(this.where(folder));
  }

  async folders(): Promise<string[]> {
    return folderNames(this.name);
  }

  async *list(folder: string): AsyncIterable<PlaceEntry> {
    const entry = (path: string): PlaceEntry => ({ path, bytes: null, isFresh: false });
    const top = this.where(folder);
    for (const name of await fileNames(top)) yield entry(name);
    for (const inner of await folderNames(top)) {
      for (const name of await fileNames(join(top, inner))) yield entry(`${inner}/${name}`);
    }
  }

  async has(path: string): Promise<boolean> {
    return lstat(this.where(path)).then(
      (found) => found.isFile(),
      () => false,
    );
  }

  async read(path: string, maxBytes: number): Promise<Buffer | null> {
    return readBounded(this.where(path), maxBytes);
  }

  async write(path: string, bytes: Buffer, { durable }: { readonly durable: boolean }): Promise<void> {
    await this.makeFolders(dirname(path));
    await replace(this.where(path), bytes, durable);
  }

  async remove(path: string): Promise<void> {
    await rm(this.where(path));
  }

  /** One call for thousands of files. */
  async flush(): Promise<void> {
    await run('sync', ['-f', this.name]);
  }

  async lock(): Promise<() => void> {
    const { dev, ino } = await stat(this.name);
    return lockByName(`${dev}-${ino}`, this.name);
  }

  private async makeFolders(path: string): Promise<void> {
    if (path === '.' || this.known.has(path)) return;
    await this.makeFolders(dirname(path));
    await ownFolder(this.where(path));
    this.known.add(path);
  }
}

async function readBounded(path: string, maxBytes: number): Promise<Buffer | null> {
  // A pipe of that name must not be waited for.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null;
    throw new BackupError(`${path} cannot be read.`, { cause });
  });
  if (file === null) return null;
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
  const folder = await open(dirname(path), 'r');
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

/** A link is none. */
const folderNames = async (folder: string): Promise<string[]> =>
  (await entriesOf(folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name);

async function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
