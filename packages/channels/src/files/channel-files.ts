/**
 * Bytes of files on their way, one file of the disk each. A key is random and known to nobody before its bytes are written
 * out; what a crash leaves half written has a key that nobody knows, and goes with its age.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { NoRoomError } from '@lodge/ports';
import type { ChannelFiles } from '@lodge/ports';

const keyPattern = /^[0-9a-f]{32}$/;

/** Of the disk, at most: a small one keeps a twentieth free. */
const usualFreeBytes = 2 * 1024 ** 3;

/** Takes no file that would leave less than `freeBytes` of the disk. */
export function createChannelFiles(dir: string, freeBytes = usualFreeBytes): ChannelFiles {
  const pathOf = (key: string): string => {
    if (!keyPattern.test(key)) throw new RangeError('this is no key of a file');
    return join(dir, key);
  };
  return {
    async write(bytes, maxBytes, signal) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const { bavail, blocks, bsize } = await statfs(dir);
      if (bavail * bsize - maxBytes < Math.min(freeBytes, (blocks * bsize) / 20)) throw new NoRoomError();
      const key = randomBytes(16).toString('hex');
      try {
        const written = await writeOut(pathOf(key), bytes, maxBytes, signal);
        await syncFolder(dir);
        return { key, bytes: written };
      } catch (error) {
        await rm(pathOf(key), { force: true });
        throw error;
      }
    },
    read: (key) => lazily(pathOf(key)),
    remove: (key) => rm(pathOf(key), { force: true }),
    async olderThan(before) {
      const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      });
      const old: string[] = [];
      for (const name of names.filter((each) => keyPattern.test(each))) {
        const found = await stat(join(dir, name)).catch(() => null);
        if (found !== null && found.mtimeMs < before.getTime()) old.push(name);
      }
      return old;
    },
  };
}

/** Opened by who reads: what is never read holds no descriptor, and fails nowhere. */
async function* lazily(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Buffer>;
}

async function writeOut(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  try {
    let written = 0;
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      written += chunk.byteLength;
      if (written > maxBytes) throw new RangeError(`a file of more than ${maxBytes} bytes`);
      await file.writeFile(chunk);
    }
    signal.throwIfAborted();
    await file.sync();
    return written;
  } finally {
    await file.close();
  }
}

/** The name of the file is in its folder. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
