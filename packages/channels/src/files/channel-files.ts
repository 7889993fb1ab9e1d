/**
 * Files in transit, one file of the disk each. A key is random, and nobody knows it before the file's bytes are written out.
 * A crash leaves a half-written file with a key that nobody knows; it is removed as unneeded.
 *
 * An account has a folder for each direction, and a file's name has its agent and its length. The stored bytes are counted
 * once from the names, and from then on as files come and go. One process writes here, and the count is right after any
 * kill.
 *
 *     <account and way>/<agent>.<bytes>.<random>      <account and way>/<agent>.new.<random> while it is written
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere, wasThere } from '@lodge/domain';
import { NoRoomError } from '@lodge/ports';
import type { ChannelFiles } from '@lodge/ports';
import { KeptFiles } from './kept-files.ts';
import type { KeptBounds, Reserved } from './kept-files.ts';

/** Files without a folder come from an earlier release. */
const keyPattern = /^(?:[0-9a-f]{16}\/[0-9a-f]{16}\.(?:[0-9]{1,12}|new)\.)?[0-9a-f]{32}$/;
const folderPattern = /^[0-9a-f]{16}$/;

const gib = 1024 ** 3;

export interface FileBounds extends KeptBounds {
  /** Free space of the disk below which no file is accepted. Agents are paused for the disk far below it. */
  readonly freeBytes: number;
}

/** Bounds; all but `freeBytes` apply to each direction separately. */
const usualBounds: FileBounds = {
  freeBytes: 3 * gib,
  bytesOfAgent: gib / 2,
  bytesOfAccount: 2 * gib,
  filesOfAgent: 2_000,
  filesOfAccount: 10_000,
};

/** One object for a folder at a time. */
export function createChannelFiles(dir: string, given: Partial<FileBounds> = {}): ChannelFiles {
  const bounds = { ...usualBounds, ...given };
  const kept = new KeptFiles(bounds, () => keysIn(dir));
  const pathOf = (key: string): string => {
    if (!keyPattern.test(key)) throw new RangeError('this is no key of a file');
    return join(dir, key);
  };
  return {
    async write(owner, bytes, maxBytes, signal) {
      // Files of earlier releases count as incoming ones, whatever their direction was.
      const folder = tagOf(owner.way === 'in' ? owner.accountId : `out ${owner.accountId}`);
      const place = `${folder}/${tagOf(owner.agentId)}`;
      const random = randomBytes(16).toString('hex');
      const reserved = await kept.reserve(place, maxBytes);
      const names = [`${place}.new.${random}`];
      try {
        await mkdir(join(dir, folder), { recursive: true, mode: 0o700 });
        const { bavail, bsize } = await statfs(dir);
        if (bavail * bsize - kept.promisedBytes < bounds.freeBytes) throw new NoRoomError();
        const written = await writeOut(pathOf(names[0]!), bytes, { maxBytes, reserved }, signal);
        const key = `${place}.${written}.${random}`;
        names.push(key);
        await rename(pathOf(names[0]!), pathOf(key));
        for (const each of [join(dir, folder), dir]) await syncFolder(each);
        return { key, bytes: written };
      } catch (error) {
        for (const name of names) await rm(pathOf(name), { force: true });
        reserved.giveBack();
        throw error;
      } finally {
        reserved.end();
      }
    },
    read: (key) => lazily(pathOf(key)),
    remove(key) {
      const path = pathOf(key);
      // It is true to one caller alone.
      return kept.removing(key, () => wasThere(unlink(path)));
    },
    async olderThan(before) {
      const old: string[] = [];
      for await (const keys of keysIn(dir)) {
        for (const key of keys) {
          const found = await stat(join(dir, key)).catch(() => null);
          if (found !== null && found.mtimeMs < before.getTime()) old.push(key);
        }
      }
      return old;
    },
  };
}

/** The replacement for an id in names, because this folder does not know an id's form. */
const tagOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 16);

const namesIn = async (folder: string): Promise<readonly string[]> => (await ifThere(readdir(folder))) ?? [];

/** Lists one folder at a time: everybody else is served in between. */
async function* keysIn(dir: string): AsyncGenerator<readonly string[]> {
  const names = await namesIn(dir);
  yield names.filter((name) => keyPattern.test(name));
  for (const folder of names.filter((name) => folderPattern.test(name))) {
    const inside = await namesIn(join(dir, folder));
    yield inside.map((name) => `${folder}/${name}`).filter((key) => keyPattern.test(key));
  }
}

/** The reader opens the file: an unread one occupies no descriptor and cannot fail. */
async function* lazily(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Buffer>;
}

async function writeOut(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  { maxBytes, reserved }: { readonly maxBytes: number; readonly reserved: Reserved },
  signal: AbortSignal,
): Promise<number> {
  await using file = await open(path, 'wx', 0o600);
  let written = 0;
  for await (const chunk of bytes) {
    signal.throwIfAborted();
    written += chunk.byteLength;
    if (written > maxBytes) throw new RangeError(`a file of more than ${maxBytes} bytes`);
    reserved.take(chunk.byteLength);
    await file.writeFile(chunk);
  }
  signal.throwIfAborted();
  await file.sync();
  return written;
}

/** The file's name without its folder. */
async function syncFolder(dir: string): Promise<void> {
  await using folder = await open(dir, 'r');
  await folder.sync();
}
