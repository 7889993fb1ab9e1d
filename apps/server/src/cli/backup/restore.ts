import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { openRepository, writtenBytes } from '@lodge/backup';
import type { Repository } from '@lodge/backup';
import type { Log } from '@lodge/ports';
import { endEmbeddedPostgres, isEmptyDatabase } from '@lodge/store';
import { exists } from '../../host/exists.ts';
import { readConfig } from '../../config/config.ts';
import type { Config } from '../../config/config.ts';
import { masterKeySource } from '../../config/master-key-source.ts';
import { lockFile, lockHolder, lockInstance, restoreMark } from '../../host/instance-lock.ts';
import { CommandError, commandLog, say } from '../command.ts';
import type { Command } from '../command.ts';
import { withOwnDatabase } from '../with-store.ts';
import { orCommandError } from './backup.ts';
import { chunksOf, filesOf, readList } from './list.ts';
import type { BackupList } from './list.ts';
import { assertSameKey, existingMasterKey, writeMasterKey } from './master-key.ts';
import type { MasterKey } from './master-key.ts';
import { putDatabase, putFiles } from './put-back.ts';
import { isWithin, targetOf } from './target.ts';

const run = promisify(execFile);
/** Chunks that are read beside one another: a bucket takes its time over each. */
const readAtOnce = 8;
const settingsFile = 'settings-of-backup.env';

/**
 * `restore FOLDER|s3://BUCKET/PREFIX [--backup NAME] [--key FILE]`, into an empty data folder: the newest backup, or the one of that name. All
 * of it is read and checked before anything is written. A mark in the data folder keeps Lodge from starting on half of it:
 * after a kill the same command clears what there is and begins anew.
 */
export const restore: Command = async (args, env) => {
  const { values, positionals } = parseArgs({
    args,
    options: { backup: { type: 'string' }, key: { type: 'string' } },
    allowPositionals: true,
  });
  const config = readConfig(env);
  const target = targetOf(positionals, 'restore');
  const log = commandLog(env);
  const began = performance.now();
  await orCommandError(async () => {
    const place = await target.open(config, env);
    await assertEmpty(config);
    const key = await existingMasterKey(config, values.key === undefined ? undefined : resolve(values.key));
    await assertSameKey(config, key.id);
    const repository = await openRepository(place, { masterKey: key.key, keyId: key.id, create: false });
    const name = values.backup ?? (await repository.backups()).at(-1);
    if (name === undefined)
      throw new CommandError(`There is no whole backup under the master key ${key.id} in ${place.name}.`);
    const list = await readList(repository, name);
    const bytes = await check(repository, list);
    say(`Backup ${name} of ${list.at}: ${list.agents.length} agents, ${bytes} bytes, every byte as it was written.`);
    await putBack({ config, log, repository, list, key });
    say(`Restored in ${((performance.now() - began) / 1000).toFixed(1)} s. npm start brings it up.`);
    if (Object.keys(list.settings).length > 0) {
      say(`Its settings are in ${join(config.dataDir, settingsFile)}: set those again that you want.`);
    }
  });
  return 0;
};

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

/** What an unfinished restore has left may go. */
async function assertEmptyFolder(config: Config): Promise<void> {
  const names = await namesIn(config.dataDir);
  if (names.includes(restoreMark) || names.every((name) => name === lockFile || isKey(config, name))) return;
  throw new CommandError(
    `The data folder ${config.dataDir} is not empty. A restore replaces nothing: move it away, or set LODGE_DATA_DIR to another folder.`,
  );
}

/** Reads everything: what is damaged is found while there is nothing to undo. Gives the bytes of the files. */
async function check(repository: Repository, list: BackupList): Promise<number> {
  const names = [...new Set(chunksOf(list))];
  for (let at = 0; at < names.length; at += readAtOnce) {
    await Promise.all(names.slice(at, at + readAtOnce).map((name) => repository.get(name)));
  }
  let bytes = 0;
  for (const { stored } of filesOf(list)) bytes += stored.bytes;
  return bytes;
}

interface PutBack {
  readonly config: Config;
  readonly log: Log;
  readonly repository: Repository;
  readonly list: BackupList;
  readonly key: MasterKey;
}

async function putBack({ config, log, repository, list, key }: PutBack): Promise<void> {
  const { dataDir } = config;
  const begunBefore = (await namesIn(dataDir)).includes(restoreMark);
  if (!begunBefore) await assertRoom(config, list);
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const unlock = await lockInstance(dataDir);
  try {
    // A Lodge may have been started here while the backup was read.
    await assertEmptyFolder(config);
    const mark = join(dataDir, restoreMark);
    await writeFile(mark, 'restore', { mode: 0o600, flush: true });
    await clear(config);
    if (begunBefore) await assertRoom(config, list);
    await putFiles({ config, repository, list });
    await withOwnDatabase(config, log, (url) => putDatabase({ config, repository, list, url, log }));
    await writeSettings(config, list);
    const source = masterKeySource(config);
    if (source.kind === 'file') await writeMasterKey(source.file, key);
    // All of it is on the disk before it counts as whole.
    await run('sync', ['-f', dataDir]);
    await rm(mark);
  } finally {
    await unlock();
  }
}

/** Takes away what an unfinished restore has left, its database's process too. */
async function clear(config: Config): Promise<void> {
  const { dataDir } = config;
  await endEmbeddedPostgres(join(dataDir, 'postgres'));
  for (const name of await namesIn(dataDir)) {
    if (name !== restoreMark && name !== lockFile && !isKey(config, name)) {
      await rm(join(dataDir, name), { recursive: true });
    }
  }
}

/** The rows of a database take more room in it than as text, for their indexes. */
const databaseFactor = 3;

async function assertRoom({ dataDir }: Config, list: BackupList): Promise<void> {
  let neededBytes = 0;
  for (const { stored } of filesOf(list)) neededBytes += writtenBytes(stored.chunks);
  for (const chunks of Object.values(list.database.tables)) neededBytes += databaseFactor * writtenBytes(chunks);
  let folder = dataDir;
  while (!(await exists(folder))) folder = dirname(folder);
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize > neededBytes) return;
  const [needed, free] = [neededBytes, bavail * bsize].map((bytes) => Math.ceil(bytes / 2 ** 20));
  throw new CommandError(`The restore needs ${needed} MiB in ${dataDir}, and ${free} MiB are free.`);
}

/** As a file for systemd, or a shell: a value stands in quotes. */
async function writeSettings({ dataDir }: Config, { settings }: BackupList): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `${name}='${value.replaceAll("'", `'\\''`)}'\n`);
  if (lines.length > 0) await writeFile(join(dataDir, settingsFile), lines.join(''), { mode: 0o600 });
}

/** The key may be there before all else. */
function isKey({ dataDir, masterKeyFile }: Config, name: string): boolean {
  return isWithin(dataDir, masterKeyFile) && dirname(masterKeyFile) === dataDir && name === basename(masterKeyFile);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
