/** A backup of the form before restic, for a restore. All of it is read and checked before anything is written. */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { BackupError } from '@lodge/backup';
import type { BackupSource } from '../source.ts';
import { assertFits, chunksOf, filesOf, hasForm } from './list.ts';
import type { ChunkList, ListBefore, StoredFile } from './list.ts';
import { chunkBytes, RepositoryBefore } from './repository.ts';

const run = promisify(execFile);
const zeros = Buffer.alloc(chunkBytes);
/** Chunks that are read beside one another. */
const readAtOnce = 8;

/** Null if the folder has no backup of that form under this key, or none of that name. */
export async function sourceBefore(
  folder: string,
  key: { readonly key: Buffer; readonly id: string },
  wanted: string | undefined,
): Promise<BackupSource | null> {
  const repository = new RepositoryBefore(folder, key.key, key.id);
  const names = await repository.backups();
  const name = wanted ?? names.at(-1);
  if (name === undefined || !names.includes(name)) return null;
  const list = await repository.list(name);
  if (!hasForm(list)) throw new BackupError(`The backup ${name} is of a form that this release does not know.`);
  assertFits(list, name);
  await checkAll(repository, list);
  const { at, agents, templates, settings, database } = list;
  return {
    name,
    at,
    agents,
    templates,
    settings,
    facts: database.facts,
    neededBytes: writtenBytes(list),
    fill: async (dataDir) => {
      for (const { name: file, stored } of filesOf(list)) await writeFileBack(repository, stored, join(dataDir, file));
    },
    rows: (table) => textOf(repository, database.tables[table] ?? []),
    close: () => Promise.resolve(),
  };
}

async function checkAll(repository: RepositoryBefore, list: ListBefore): Promise<void> {
  const names = [...new Set(chunksOf(list))];
  for (let at = 0; at < names.length; at += readAtOnce) {
    await Promise.all(names.slice(at, at + readAtOnce).map((name) => repository.get(name)));
  }
}

/** The rows of a database take more room in it than as text, for their indexes. */
function writtenBytes(list: ListBefore): number {
  const chunksIn = (chunks: ChunkList): number => chunks.filter((item) => typeof item === 'string').length;
  let count = 0;
  for (const { stored } of filesOf(list)) count += chunksIn(stored.chunks);
  for (const chunks of Object.values(list.database.tables)) count += 3 * chunksIn(chunks);
  return count * chunkBytes;
}

async function* readItems(repository: RepositoryBefore, list: ChunkList): AsyncIterable<Buffer | number> {
  for (let at = 0; at < list.length; at += readAtOnce) {
    const items = list.slice(at, at + readAtOnce);
    yield* await Promise.all(items.map(async (item) => (typeof item === 'string' ? repository.get(item) : item)));
  }
}

async function* textOf(repository: RepositoryBefore, chunks: ChunkList): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const item of readItems(repository, chunks)) {
    if (typeof item !== 'number') yield decoder.decode(item, { stream: true });
    else for (let left = item; left > 0; left -= 1) yield decoder.decode(zeros, { stream: true });
  }
  yield decoder.decode();
}

/** Writes a stored file, with its holes, its owner, its mode and the time of its last write. It must not be there. */
async function writeFileBack(repository: RepositoryBefore, stored: StoredFile, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'wx', 0o600);
  try {
    let at = 0;
    for await (const item of readItems(repository, stored.chunks)) {
      if (typeof item !== 'number') await file.write(item, 0, item.length, at);
      at += typeof item === 'number' ? item * chunkBytes : item.length;
    }
    await file.truncate(stored.bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await chown(path, stored.uid, stored.gid);
  await chmod(path, stored.mode);
  // Node's own call takes seconds in floating point, and a snapshot's disk must have its exact nanosecond.
  const at = stored.mtimeNs.padStart(10, '0');
  await run('touch', ['-d', `@${at.slice(0, -9)}.${at.slice(-9)}`, '--', path]);
}
