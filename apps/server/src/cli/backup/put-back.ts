/** Puts a backup's contents into this Lodge's places. Other folders, another database and another name do not matter. */
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@lodge/ports';
import { loadDatabase, migrate, openStore } from '@lodge/store';
import { putSnapshotsOn } from '@lodge/store/snapshots';
import type { Config } from '../../config/config.ts';
import { exists } from '../../host/files.ts';
import { holderName, noteNotRunning } from '../take-down.ts';
import type { BackupSource } from './source.ts';

/** Every start puts a disk over the template of its own data folder, so the files name no place. */
export async function putFiles({ dataDir }: Config, source: BackupSource): Promise<void> {
  for (const name of ['templates', 'vms']) await mkdir(join(dataDir, name), { recursive: true, mode: 0o711 });
  await source.fill(dataDir);
  if (await exists(join(dataDir, 'saved'))) await chmod(join(dataDir, 'saved'), 0o711);
  for (const { id, folder } of source.templates) {
    await chown(join(dataDir, 'templates', id), folder.uid, folder.gid);
    await chmod(join(dataDir, 'templates', id), folder.mode);
  }
  for (const { record } of source.agents)
    await writeFile(join(dataDir, 'vms', record.name), record.text, { mode: 0o600 });
}

export interface PutDatabase {
  readonly config: Config;
  readonly source: BackupSource;
  readonly url: string;
  readonly log: Log;
}

/**
 * Writes in one transaction the rows and that their machines are on this host. Agents that ran become ones to be started.
 */
export async function putDatabase({ config, source, url: connectionString, log }: PutDatabase): Promise<void> {
  const holder = holderName(config);
  const here = `update agents set host = case when host is null then null else $1 end, lease_holder = null, lease_until = null`;
  const finish = [{ text: here, values: [holder] }];
  await loadDatabase({ connectionString }, source.facts, (table) => source.rows(table), finish);
  await migrate({ connectionString });
  const store = await openStore({ connectionString, log });
  try {
    await store.database.transaction((trx) => putSnapshotsOn(trx, holder));
    await noteNotRunning(store, holder, new Set());
  } finally {
    await store.close();
  }
}
