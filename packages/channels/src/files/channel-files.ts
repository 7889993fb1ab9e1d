/**
 * Bytes of files on their way, one file of the disk each. A key is random and known to nobody before its bytes are written
 * out; what a crash leaves half written has a key that nobody knows, and goes with its age.
 *
 * An account has a folder, and a file's name says whose it is and how long: what an account keeps is counted by reading names,
 * so the count is right whoever was killed when, and for every process that writes here.
 *
 *     <account>/<agent>.<bytes>.<random>      <account>/<agent>.new.<random> while it is written
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { NoRoomError } from '@lodge/ports';
import type { ChannelFiles } from '@lodge/ports';

/** Without a folder: of an earlier release. */
const keyPattern = /^(?:[0-9a-f]{16}\/[0-9a-f]{16}\.(?:[0-9]{1,12}|new)\.)?[0-9a-f]{32}$/;
const namePattern = /^([0-9a-f]{16})\.([0-9]{1,12}|new)\.[0-9a-f]{32}$/;
const folderPattern = /^[0-9a-f]{16}$/;

const gib = 1024 ** 3;

export interface FileBounds {
  /** Of the disk: no file is taken that would leave less. Agents are paused for the disk far below it. */
  readonly freeBytes: number;
  readonly bytesOfAgent: number;
  readonly bytesOfAccount: number;
  readonly filesOfAccount: number;
}

const usualBounds: FileBounds = {
  freeBytes: 3 * gib,
  bytesOfAgent: gib,
  bytesOfAccount: 4 * gib,
  filesOfAccount: 20_000,
};

export function createChannelFiles(dir: string, given: Partial<FileBounds> = {}): ChannelFiles {
  const bounds = { ...usualBounds, ...given };
  const pathOf = (key: string): string => {
    if (!keyPattern.test(key)) throw new RangeError('this is no key of a file');
    return join(dir, key);
  };
  return {
    async write(owner, bytes, maxBytes, signal) {
      const [account, agent] = [tagOf(owner.accountId), tagOf(owner.agentId)];
      const folder = join(dir, account);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(folder);
      if (bavail * bsize - maxBytes < bounds.freeBytes) throw new NoRoomError();
      const room = await roomIn(folder, agent, bounds);
      if (room <= 0) throw new NoRoomError();
      const random = randomBytes(16).toString('hex');
      const path = join(folder, `${agent}.new.${random}`);
      try {
        const written = await writeOut(path, bytes, Math.min(maxBytes, room), signal);
        const key = `${account}/${agent}.${written}.${random}`;
        await rename(path, pathOf(key));
        for (const each of [folder, dir]) await syncFolder(each);
        return { key, bytes: written };
      } catch (error) {
        await rm(path, { force: true });
        throw error instanceof RangeError && room < maxBytes ? new NoRoomError() : error;
      }
    },
    read: (key) => lazily(pathOf(key)),
    remove: (key) => rm(pathOf(key), { force: true }),
    async olderThan(before) {
      const old: string[] = [];
      for (const name of await namesIn(dir)) {
        const inside = folderPattern.test(name) ? await namesIn(join(dir, name)) : [];
        for (const key of [name, ...inside.map((each) => `${name}/${each}`)]) {
          if (!keyPattern.test(key)) continue;
          const found = await stat(join(dir, key)).catch(() => null);
          if (found !== null && found.mtimeMs < before.getTime()) old.push(key);
        }
      }
      return old;
    },
  };
}
/** What stands in names in the place of an id, whose form is none of this folder's business. */
const tagOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 16);

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** Bytes that the agent may add to its account's folder. */
async function roomIn(folder: string, agent: string, bounds: FileBounds): Promise<number> {
  const names = await namesIn(folder);
  if (names.length >= bounds.filesOfAccount) return 0;
  let [ofAgent, ofAccount] = [0, 0];
  for (const name of names) {
    const [, owner, size] = namePattern.exec(name) ?? [];
    if (size === undefined) continue;
    const bytes = size === 'new' ? await sizeOf(join(folder, name)) : Number(size);
    ofAccount += bytes;
    if (owner === agent) ofAgent += bytes;
  }
  return Math.min(bounds.bytesOfAgent - ofAgent, bounds.bytesOfAccount - ofAccount);
}

/** One that is renamed or removed meanwhile counts nothing. */
const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

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
