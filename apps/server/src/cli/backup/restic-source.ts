/** A backup in restic: its parts are restored beside their final places, checked, and moved. */
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { link, lstat, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { BackupError } from '@lodge/backup';
import type { Repository } from '@lodge/backup';
import { isLayer } from '@lodge/vm/portable';
import type { BackupSource } from './source.ts';
import { filesOf, hasForm, listFile, tableFile } from './list.ts';
import type { BackupList, ListedFile } from './list.ts';

/** Folder of restored files without their final places, relative to the data folder. */
export const restoredName = 'restored-copies';

const run = promisify(execFile);
const maxListBytes = 256 * 2 ** 20;
/** The rows of a database take more room in it than as text, for their indexes, and the text exists meanwhile. */
const databaseFactor = 4;

/** `folder` is on the data folder's file system; `close` removes it. */
export async function resticSource(repository: Repository, name: string, folder: string): Promise<BackupSource> {
  const list = await readList(repository, name, folder);
  const { at, agents, templates, settings, database } = list;
  return {
    name,
    at,
    agents,
    templates,
    settings,
    facts: database.facts,
    neededBytes: filesOf(list).reduce((sum, { bytes }) => sum + bytes, databaseFactor * database.bytes),
    fill: async (dataDir) => {
      const parts = new Set([database.part, ...filesOf(list).map(({ part }) => part)]);
      for (const part of parts) await repository.restore(repository.snapshotOf(name, part), partFolder(folder, part));
      const layers = new Map<string, string>();
      for (const file of filesOf(list)) {
        await moveFile(repository, file, { folder, dataDir });
        await shareLayer(join(dataDir, file.to), layers);
      }
    },
    rows: (table) => rowsIn(folder, list, table),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Rejects with `BackupError` when the list is damaged, or this release does not know its form. */
export async function readList(repository: Repository, name: string, folder: string): Promise<BackupList> {
  const target = join(folder, 'list');
  await repository.restore(repository.snapshotOf(name, null), target, [listFile]);
  const path = join(target, listFile);
  const found = await lstat(path).catch(() => null);
  if (!found?.isFile() || found.size > maxListBytes) throw damaged(repository, name);
  const list: unknown = JSON.parse(await readFile(path, 'utf8'));
  if (hasForm(list)) return list;
  throw new BackupError(
    `The backup ${name} is of a form that this release does not know. Restore it with a newer one.`,
  );
}

/** The rows of one table, once its part was restored. */
export const rowsIn = (folder: string, { database }: BackupList, table: string): AsyncIterable<string> =>
  createReadStream(join(partFolder(folder, database.part), tableFile(table)), 'utf8');

export const partFolder = (folder: string, part: number): string => join(folder, `part-${part}`);

/** restic has checked its bytes. This checks that all of them are there, in a regular file. */
export async function moveFile(
  repository: Repository,
  { part, from, to, bytes }: ListedFile,
  { folder, dataDir }: { readonly folder: string; readonly dataDir: string },
): Promise<void> {
  const path = join(partFolder(folder, part), from);
  const found = await lstat(path).catch(() => null);
  if (!found?.isFile() || found.size !== bytes) throw damaged(repository, to);
  if (!repository.keepsHoles) await digHoles(path);
  await mkdir(dirname(join(dataDir, to)), { recursive: true, mode: 0o700 });
  await rename(path, join(dataDir, to));
}

/** Makes all names of one layer one file, as they were. `known` has the first place of each. */
async function shareLayer(path: string, known: Map<string, string>): Promise<void> {
  const name = basename(path);
  if (!isLayer(name)) return;
  const first = known.get(name);
  if (first === undefined) {
    known.set(name, path);
    return;
  }
  await rm(path);
  await link(first, path);
}

/**
 * An older restic writes holes as zeros. Taking them out again is a write for the file system, and a snapshot identifies its
 * disk by the time of the last write, so that time is put back.
 */
async function digHoles(path: string): Promise<void> {
  const time = `${path}.time`;
  await run('touch', ['--reference', path, '--', time]);
  await run('fallocate', ['--dig-holes', '--', path]).catch(() => undefined);
  await run('touch', ['--no-create', '-m', '--reference', time, '--', path]);
  await rm(time);
}

const damaged = ({ place }: Repository, what: string): BackupError =>
  new BackupError(`The backups in ${place.name} are damaged: ${what} is not what was written.`);
