/** Files and texts as lists of chunks, and back. */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { chunkBytes } from './repository.ts';
import type { Repository } from './repository.ts';

const run = promisify(execFile);
const zeros = Buffer.alloc(chunkBytes);
/** Chunks that are compressed and sealed beside one another. */
const parallel = 4;
/** Chunks that are read beside one another: a bucket takes its time over each. */
const readAtOnce = 8;

/** In order: names of chunks, and for holes the number of chunks of zeros. All are of the same size but the last. */
export type ChunkList = readonly (string | number)[];

export interface FileFacts {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly bytes: number;
  /** Nanoseconds since 1970, in decimal: a snapshot knows its disk by it. */
  readonly mtimeNs: string;
}

export interface StoredFile extends FileFacts {
  readonly chunks: ChunkList;
  /** Tells, without reading it, that the same file has not changed since. */
  readonly mark: string;
}

/** Names of the chunks that a list has, without its holes. */
export function* chunkNames(list: ChunkList): Iterable<string> {
  for (const item of list) if (typeof item === 'string') yield item;
}

/** Whether a file's size is that of its chunks. */
export function fits({ bytes, chunks }: StoredFile): boolean {
  let count = 0;
  for (const item of chunks) count += typeof item === 'string' ? 1 : item;
  return count === Math.ceil(bytes / chunkBytes);
}

/** The bytes that a list of chunks takes up on a disk, its holes apart: a bound, in whole chunks. */
export function writtenBytes(chunks: ChunkList): number {
  let count = 0;
  for (const item of chunks) if (typeof item === 'string') count += 1;
  return count * chunkBytes;
}

/** Stores a file as it is. `before`, of an earlier backup, saves reading one that has not changed. */
export async function storeFile(repository: Repository, path: string, before?: StoredFile): Promise<StoredFile> {
  const found = await stat(path, { bigint: true });
  const mark = `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`;
  const facts = {
    mode: Number(found.mode & 0o777n),
    uid: Number(found.uid),
    gid: Number(found.gid),
    bytes: Number(found.size),
    mtimeNs: String(found.mtimeNs),
    mark,
  };
  if (before?.mark === mark && [...chunkNames(before.chunks)].every((name) => repository.isTrusted(name))) {
    return { ...facts, chunks: before.chunks };
  }
  const file = await open(path, 'r');
  try {
    return { ...facts, chunks: await chunksOf(repository, file.createReadStream({ highWaterMark: chunkBytes })) };
  } finally {
    await file.close().catch(() => undefined);
  }
}

/** Stores a text that comes piece by piece. */
export async function storeText(repository: Repository, pieces: AsyncIterable<string>): Promise<ChunkList> {
  const bytes = async function* (): AsyncIterable<Buffer> {
    for await (const piece of pieces) yield Buffer.from(piece);
  };
  return chunksOf(repository, bytes());
}

async function chunksOf(repository: Repository, pieces: AsyncIterable<Buffer>): Promise<ChunkList> {
  const list: (string | number)[] = [];
  let waiting: Promise<string | number>[] = [];
  const take = async (): Promise<void> => {
    for (const item of await Promise.all(waiting)) {
      const last = list.at(-1);
      if (typeof item === 'number' && typeof last === 'number') list[list.length - 1] = last + item;
      else list.push(item);
    }
    waiting = [];
  };
  for await (const chunk of ofSize(pieces)) {
    const isHole = chunk.length === chunkBytes && chunk.equals(zeros);
    waiting.push(isHole ? Promise.resolve(1) : repository.put(chunk));
    if (waiting.length === parallel) await take();
  }
  await take();
  return list;
}

async function* ofSize(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let kept: Buffer[] = [];
  let length = 0;
  for await (let piece of pieces) {
    while (length + piece.length >= chunkBytes) {
      const part = piece.subarray(0, chunkBytes - length);
      yield length === 0 ? part : Buffer.concat([...kept, part]);
      piece = piece.subarray(part.length);
      kept = [];
      length = 0;
    }
    if (piece.length > 0) kept.push(piece);
    length += piece.length;
  }
  if (length > 0) yield Buffer.concat(kept);
}

/** What was stored, in order; each chunk is checked. */
export async function* readChunks(repository: Repository, list: ChunkList): AsyncIterable<Buffer> {
  for await (const item of readItems(repository, list)) {
    if (typeof item !== 'number') yield item;
    else for (let left = item; left > 0; left -= 1) yield zeros;
  }
}

async function* readItems(repository: Repository, list: ChunkList): AsyncIterable<Buffer | number> {
  for (let at = 0; at < list.length; at += readAtOnce) {
    const items = list.slice(at, at + readAtOnce);
    yield* await Promise.all(items.map(async (item) => (typeof item === 'string' ? repository.get(item) : item)));
  }
}

/** Writes a stored file, with its holes, its owner, its mode and the time of its last write. It must not be there. */
export async function writeFileBack(repository: Repository, stored: StoredFile, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'wx', 0o600);
  try {
    let at = 0;
    for await (const item of readItems(repository, stored.chunks)) {
      if (typeof item === 'number') {
        at += item * chunkBytes;
        continue;
      }
      await file.write(item, 0, item.length, at);
      at += item.length;
    }
    await file.truncate(stored.bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await chown(path, stored.uid, stored.gid);
  await chmod(path, stored.mode);
  await setTime(path, stored.mtimeNs);
}

/** By a program: Node's own call takes seconds in floating point, and a snapshot's disk must have its very nanosecond. */
async function setTime(path: string, mtimeNs: string): Promise<void> {
  const at = mtimeNs.padStart(10, '0');
  await run('touch', ['-d', `@${at.slice(0, -9)}.${at.slice(-9)}`, '--', path]);
}
