/**
 * Files of exports and imports, in a folder that the control plane alone reads. An import that is being written has `.part` behind
 * its name and gets its own by a rename.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { PortableFiles, ScratchFile } from '@lodge/ports';

const part = '.part';
const scratch = '.scratch';
const chunkBytes = 64 * 1024;

export function createPortableFiles(folder: string): PortableFiles {
  const pathOf = (id: string): string => join(folder, id);
  const ensure = () => mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    async scratch() {
      await ensure();
      const path = pathOf(randomBytes(12).toString('hex') + scratch);
      const file = await open(path, 'wx+', 0o600);
      // Without a name it ends with the process, however that ends.
      await rm(path);
      return scratchOf(file);
    },
    async keep(id, bytes) {
      await ensure();
      const file = await open(pathOf(id) + part, 'wx', 0o600);
      try {
        await writeAll(file, bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(pathOf(id) + part, pathOf(id));
      await syncFolder(folder);
    },
    async open(id) {
      const file = await open(pathOf(id)).catch(noneIfGone);
      return file && closing(file);
    },
    async list() {
      const names = (await readdir(folder).catch(noneIfGone)) ?? [];
      const found = await Promise.all(names.map((name) => seen(folder, name)));
      return found.filter((file) => file !== null);
    },
    async drop(id) {
      for (const path of [pathOf(id), pathOf(id) + part]) await rm(path, { force: true });
    },
  };
}

/** Streams of a handle close it, or keep it from being closed: these do neither. */
async function writeAll(file: FileHandle, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  let at = 0;
  for await (const chunk of bytes) {
    for (let done = 0; done < chunk.length;) {
      const { bytesWritten } = await file.write(chunk, done, chunk.length - done, at);
      done += bytesWritten;
      at += bytesWritten;
    }
  }
}

async function* readAll(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let at = 0; ;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function* closing(file: FileHandle): AsyncGenerator<Uint8Array> {
  try {
    yield* readAll(file);
  } finally {
    await file.close();
  }
}

function scratchOf(file: FileHandle): ScratchFile {
  let isClosed = false;
  return {
    write: (bytes) => writeAll(file, bytes),
    read: () => readAll(file),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await file.close();
    },
  };
}

/** A file by its id; unfinished ones have the id of the whole. Null when it has gone meanwhile. */
async function seen(folder: string, name: string) {
  const found = await stat(join(folder, name)).catch(noneIfGone);
  return found && { id: name.endsWith(part) ? name.slice(0, -part.length) : name, at: found.mtime };
}

async function syncFolder(folder: string): Promise<void> {
  const file = await open(folder);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function noneIfGone(error: unknown): null {
  if ((error as { readonly code?: unknown }).code === 'ENOENT') return null;
  throw error;
}
