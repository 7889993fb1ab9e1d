/** Puts what a backup has where this Lodge looks for it: other folders, another database and another name are no matter. */
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readChunks, writeFileBack } from '@lodge/backup';
import type { ChunkList, Repository } from '@lodge/backup';
import type { Log } from '@lodge/ports';
import { loadDatabase, migrate, openStore } from '@lodge/store';
import type { Config } from '../../config/config.ts';
import { CommandError } from '../command.ts';
import { holderName, noteNotRunning } from '../take-down.ts';
import { filesOf } from './list.ts';
import type { BackupList } from './list.ts';
import { isWithin } from './target.ts';

interface Putting {
  readonly config: Config;
  readonly repository: Repository;
  readonly list: BackupList;
}

/** Every start puts a disk over the template of its own data folder, so nothing in the files is of a place. */
export async function putFiles({ config, repository, list }: Putting): Promise<void> {
  const { dataDir } = config;
  for (const name of ['templates', 'vms']) await mkdir(join(dataDir, name), { recursive: true, mode: 0o711 });
  for (const { name, stored } of filesOf(list)) {
    const path = join(dataDir, name);
    if (!isWithin(dataDir, path)) throw new CommandError(`The backup names a file that cannot be: ${name}`);
    await writeFileBack(repository, stored, path);
  }
  for (const { id, folder } of list.templates) {
    await chown(join(dataDir, 'templates', id), folder.uid, folder.gid);
    await chmod(join(dataDir, 'templates', id), folder.mode);
  }
  for (const { record } of list.agents)
    await writeFile(join(dataDir, 'vms', record.name), record.text, { mode: 0o600 });
}

/** In one transaction: the rows, and that their machines are on this host. Agents that ran are to be started. */
export async function putDatabase(work: Putting & { readonly url: string; readonly log: Log }): Promise<void> {
  const { config, repository, list, url: connectionString, log } = work;
  const { facts, tables } = list.database;
  const holder = holderName(config);
  const here = `update agents set host = case when host is null then null else $1 end, lease_holder = null, lease_until = null`;
  const finish = [{ text: here, values: [holder] }];
  await loadDatabase({ connectionString }, facts, (table) => textOf(repository, tables[table] ?? []), finish);
  await migrate({ connectionString });
  const store = await openStore({ connectionString, log });
  try {
    await noteNotRunning(store, holder, new Set());
  } finally {
    await store.close();
  }
}

async function* textOf(repository: Repository, chunks: ChunkList): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const bytes of readChunks(repository, chunks)) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}
