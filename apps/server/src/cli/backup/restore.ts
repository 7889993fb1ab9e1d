import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, rmdir, statfs, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { Place } from '@lodge/backup';
import { ifThere } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import { endEmbeddedPostgres, isEmptyDatabase } from '@lodge/store';
import { exists } from '../../host/files.ts';
import { readConfig } from '../../config/config.ts';
import type { Config } from '../../config/config.ts';
import { masterKeySource } from '../../config/master-key-source.ts';
import { lockFile, lockHolder, lockInstance, restoreMark } from '../../host/instance-lock.ts';
import { CommandError, commandLog, say } from '../command.ts';
import type { Command } from '../command.ts';
import { withOwnDatabase } from '../with-store.ts';
import { orCommandError } from './backup.ts';
import { takeCredentials } from './credentials.ts';
import { sourceBefore } from './form-before/source.ts';
import { assertSameKey, existingMasterKey, writeMasterKey } from './master-key.ts';
import type { MasterKey } from './master-key.ts';
import { putDatabase, putFiles } from './put-back.ts';
import { isWithin, noBackups, openBackups, placeFor } from './open.ts';
import { restoreAgent } from './restore-agent.ts';
import { resticSource, restoredName } from './restic-source.ts';
import type { BackupSource } from './source.ts';

const run = promisify(execFile);
const settingsFile = 'settings-of-backup.env';

/**
 * `restore [PLACE] [--backup NAME] [--key FILE]` restores the newest backup, or the named one, into an empty data folder. A
 * mark in the data folder keeps Lodge from starting on half of it: after a kill the same command clears the rest and begins
 * anew. A failed restore is cleared away at once. With `--agent ID [--account ID]` one agent becomes a new one of this
 * Lodge.
 */
export const restore: Command = async (args, env) => {
  const { values, positionals } = parseArgs({
    args,
    options: {
      backup: { type: 'string' },
      key: { type: 'string' },
      agent: { type: 'string' },
      account: { type: 'string' },
    },
    allowPositionals: true,
  });
  const config = readConfig(env);
  const log = commandLog(env);
  const began = performance.now();
  await orCommandError(async () => {
    const place = placeFor(config, positionals, 'restore');
    const credentials = await takeCredentials(config, env);
    const keyFile = values.key === undefined ? undefined : resolve(values.key);
    const { agent: agentId, account, backup } = values;
    if (agentId !== undefined) {
      return restoreAgent({ config, log, place, credentials, agentId, account, backup, keyFile });
    }
    await assertEmpty(config);
    const key = await existingMasterKey(config, keyFile);
    await assertSameKey(config, key.id);
    const openSource = await findBackup(config, { place, key, credentials, wanted: backup });
    const hasSettings = await putBack({ config, log, openSource, key });
    say(`Restored in ${((performance.now() - began) / 1000).toFixed(1)} s. npm start brings it up.`);
    if (hasSettings) say(`Its settings are in ${join(config.dataDir, settingsFile)}: set those again that you want.`);
  });
  return 0;
};

interface Wanted {
  readonly place: Place;
  readonly key: MasterKey;
  readonly credentials: Readonly<Record<string, string>>;
  readonly wanted: string | undefined;
}

/** Looks for the backup; nothing is written before the returned function is called. */
async function findBackup(config: Config, { wanted, ...opening }: Wanted): Promise<() => Promise<BackupSource>> {
  const { place, key } = opening;
  const repository = await openBackups(config, { ...opening, create: false });
  const names = repository?.backups() ?? [];
  const name = wanted ?? names.at(-1);
  if (repository && name !== undefined && names.includes(name)) {
    return () => resticSource(repository, name, join(config.dataDir, restoredName));
  }
  const before = place.folder === null ? null : await sourceBefore(place.folder, key, wanted);
  if (before !== null) return () => Promise.resolve(before);
  throw noBackups(place, key);
}

async function assertEmpty(config: Config): Promise<void> {
  const { dataDir, databaseUrl } = config;
  const holder = await lockHolder(dataDir).catch(() => null);
  if (holder)
    throw new CommandError(`Lodge runs on ${dataDir} (pid ${holder.pid}). A restore needs an empty data folder.`);
  await assertEmptyFolder(config);
  if (databaseUrl !== null && !(await isEmptyDatabase({ connectionString: databaseUrl }))) {
    throw new CommandError('The database of DATABASE_URL is not empty. A restore replaces nothing: give an empty one.');
  }
}

/** Remains of an unfinished restore may be removed. */
async function assertEmptyFolder(config: Config): Promise<void> {
  const names = await namesIn(config.dataDir);
  if (names.includes(restoreMark) || names.every((name) => name === lockFile || isKey(config, name))) return;
  throw new CommandError(
    `The data folder ${config.dataDir} is not empty. A restore replaces nothing: move it away, or set LODGE_DATA_DIR to another folder.`,
  );
}

interface PutBack {
  readonly config: Config;
  readonly log: Log;
  readonly openSource: () => Promise<BackupSource>;
  readonly key: MasterKey;
}

/** Returns whether the backup has settings. */
async function putBack({ config, log, openSource, key }: PutBack): Promise<boolean> {
  const { dataDir } = config;
  const isNew = !(await exists(dataDir));
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const unlock = await lockInstance(dataDir);
  const mark = join(dataDir, restoreMark);
  try {
    // A Lodge may have been started here during the search for the backup.
    await assertEmptyFolder(config);
    await writeFile(mark, 'restore', { mode: 0o600, flush: true });
    await clear(config);
    const hasSettings = await fill({ config, log, openSource, key }).catch(async (error: unknown) => {
      // The mark stays if not all of it can be cleared away.
      await clear(config);
      await rm(mark);
      throw error;
    });
    await rm(mark);
    return hasSettings;
  } finally {
    await unlock();
    if (isNew) await rmdir(dataDir).catch(() => undefined);
  }
}

async function fill({ config, log, openSource, key }: PutBack): Promise<boolean> {
  const { dataDir } = config;
  const source = await openSource();
  await assertRoom(config, source);
  say(`Backup ${source.name} of ${source.at}: ${source.agents.length} agents.`);
  await putFiles(config, source);
  await withOwnDatabase(config, log, (url) => putDatabase({ config, source, url, log }));
  await writeSettings(config, source);
  const keySource = masterKeySource(config);
  if (keySource.kind === 'file') await writeMasterKey(keySource.file, key);
  await source.close();
  // All of it is on the disk before it counts as whole.
  await run('sync', ['-f', dataDir]);
  return Object.keys(source.settings).length > 0;
}

/** Removes the remains of an unfinished restore, its database's process too. */
async function clear(config: Config): Promise<void> {
  const { dataDir } = config;
  await endEmbeddedPostgres(join(dataDir, 'postgres'));
  for (const name of await namesIn(dataDir)) {
    if (name !== restoreMark && name !== lockFile && !isKey(config, name)) {
      await rm(join(dataDir, name), { recursive: true });
    }
  }
}

async function assertRoom({ dataDir }: Config, { neededBytes }: BackupSource): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize > neededBytes) return;
  const [needed, free] = [neededBytes, bavail * bsize].map((bytes) => Math.ceil(bytes / 2 ** 20));
  throw new CommandError(`The restore needs ${needed} MiB in ${dataDir}, and ${free} MiB are free.`);
}

/** Writes a file for systemd or a shell: a value stands in quotes. */
async function writeSettings({ dataDir }: Config, { settings }: BackupSource): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `${name}='${value.replaceAll("'", `'\\''`)}'\n`);
  if (lines.length > 0) await writeFile(join(dataDir, settingsFile), lines.join(''), { mode: 0o600 });
}

/** The key may be there before all else. */
function isKey({ dataDir, masterKeyFile }: Config, name: string): boolean {
  return isWithin(dataDir, masterKeyFile) && dirname(masterKeyFile) === dataDir && name === basename(masterKeyFile);
}

const namesIn = async (folder: string): Promise<string[]> => (await ifThere(readdir(folder))) ?? [];
