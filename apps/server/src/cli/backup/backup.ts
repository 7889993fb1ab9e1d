import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BackupError, lockBackups, newBackupName } from '@lodge/backup';
import type { Progress } from '@lodge/backup';
import { MigrationError } from '@lodge/store';
import { VmError } from '@lodge/ports';
import { readConfig } from '../../config/config.ts';
import { exists } from '../../host/files.ts';
import { CommandError, commandLog, say } from '../command.ts';
import type { Command } from '../command.ts';
import { withDatabase } from '../with-store.ts';
import { takeCredentials } from './credentials.ts';
import { noteLastBackup } from '../../host/last-backup.ts';
import { makeBackup } from './make.ts';
import { existingMasterKey, writeMasterKey } from './master-key.ts';
import { isWithin, noBackups, openBackups, placeFor } from './open.ts';

/** A mark in the data folder: a backup of it has begun and not ended. */
const unfinishedMark = 'backup-unfinished';

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/**
 * `backup [PLACE] [--keep POLICY] [--with-key FILE]` stores everything except the master key, sealed under it. `backup check
 * [PLACE] [--quick]` reads a place and says whether it is whole; `backup list [PLACE]` names its backups.
 */
export const backup: Command = async (args, env) => {
  const [verb] = args;
  if (verb === 'check') return check(args.slice(1), env);
  return verb === 'list' ? list(args.slice(1), env) : make(args, env);
};

const make: Command = async (args, env) => {
  const { values, positionals } = parseArgs({
    args,
    options: { keep: { type: 'string' }, 'with-key': { type: 'string' } },
    allowPositionals: true,
  });
  const config = readConfig(env);
  await orCommandError(async () => {
    const place = placeFor(config, positionals, 'backup');
    const keep = keepOptions(values.keep ?? config.backupKeep);
    const keyFile = values['with-key'] === undefined ? null : resolve(values['with-key']);
    const { dataDir } = config;
    if (place.folder !== null && isWithin(dataDir, place.folder)) {
      throw new CommandError(
        `${place.name} lies in the data folder, which it is to be a backup of. Name another folder.`,
      );
    }
    if (keyFile !== null && place.folder !== null && isWithin(place.folder, keyFile)) {
      throw new CommandError(
        `${keyFile} lies in the backups' folder: who has both reads everything. Keep the key apart.`,
      );
    }
    const began = performance.now();
    const log = commandLog(env);
    const credentials = await takeCredentials(config, env);
    const key = await existingMasterKey(config, undefined);
    const unlock = await lockBackups(dataDir);
    try {
      const repository = await openBackups(config, { place, key, credentials, create: true });
      // The next whole backup removes the files of one that was cut off.
      const mark = join(dataDir, unfinishedMark);
      const wasCut = await exists(mark);
      await writeFile(mark, '', { mode: 0o600 });
      const at = new Date();
      const name = newBackupName(at, randomBytes(3).toString('hex'));
      const onProgress = progressTeller(process.stdout);
      const { list: made, addedBytes } = await withDatabase(config, log, (databaseUrl) =>
        makeBackup({ config, env, repository, databaseUrl, name, at, log, tell: say, onProgress }),
      );
      if (keyFile !== null) {
        await mkdir(dirname(keyFile), { recursive: true, mode: 0o700 });
        await writeMasterKey(keyFile, key);
      }
      await noteLastBackup(config, { at: made.at, folder: place.name, name });
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      say(`Backup ${name} is whole: ${made.agents.length} agents, ${seconds} s, ${mib(addedBytes)} of it new.`);
      const gone = keep === null ? [] : await repository.forget(keep);
      await repository.clear({ always: gone.length > 0 || wasCut });
      await rm(mark, { force: true });
      if (gone.length > 0) say(`Removed ${gone.length} older: ${gone.join(', ')}.`);
      say(`The master key is not in it: ${key.where}. Without that key the backup cannot be read. Keep a copy apart.`);
      if (keyFile !== null) say(`A copy of the key is ${keyFile}. Whoever has it and the backup reads everything.`);
    } finally {
      unlock();
    }
  });
  return 0;
};

const check: Command = async (args, env) => {
  const { values, positionals } = parseArgs({ args, options: { quick: { type: 'boolean' } }, allowPositionals: true });
  await withBackups(env, positionals, 'backup check', async (repository) => {
    await repository.check({ everything: values.quick !== true });
    const count = repository.backups().length;
    const what = values.quick === true ? 'The lists and indexes' : 'Every byte';
    say(`${what} of the backups in ${repository.place.name} can be read: ${count} backups.`);
  });
  return 0;
};

const list: Command = async (args, env) => {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true });
  await withBackups(env, positionals, 'backup list', (repository) => {
    for (const name of repository.backups()) say(name);
  });
  return 0;
};

type Repository = NonNullable<Awaited<ReturnType<typeof openBackups<false>>>>;

async function withBackups(
  env: NodeJS.ProcessEnv,
  positionals: readonly string[],
  command: string,
  work: (repository: Repository) => Promise<void> | void,
): Promise<void> {
  const config = readConfig(env);
  await orCommandError(async () => {
    const place = placeFor(config, positionals, command);
    const credentials = await takeCredentials(config, env);
    const key = await existingMasterKey(config, undefined);
    const repository = await openBackups(config, { place, key, credentials, create: false });
    if (repository === null) throw noBackups(place, key);
    await work(repository);
  });
}

/** Passes on the errors that the operator can do something about. */
export async function orCommandError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isPlain = error instanceof BackupError || error instanceof MigrationError || error instanceof VmError;
    throw isPlain ? new CommandError(error.message, { cause: error }) : error;
  }
}

const kinds = ['last', 'hourly', 'daily', 'weekly', 'monthly', 'yearly'];
const form = 'a number of backups, or such as daily=7,weekly=4,monthly=12';

/** restic's options for the kept backups; null keeps all. */
function keepOptions(text: string | null): string[] | null {
  if (text === null) return null;
  return text.split(',').flatMap((each) => {
    const [, kind = 'last', number] = /^(?:([a-z]+)=)?([1-9]\d{0,4})$/.exec(each.trim()) ?? [];
    if (number === undefined || !kinds.includes(kind)) throw new CommandError(`--keep is ${form}.`);
    return [`--keep-${kind}`, number];
  });
}

const everyMs = 10_000;
const terminalMs = 500;

/** Says how far a backup has come: in one line of a terminal, elsewhere in a line each ten seconds. */
function progressTeller(stream: NodeJS.WriteStream): (progress: Progress) => void {
  let last = performance.now();
  return ({ doneBytes, totalBytes }) => {
    const isOver = doneBytes >= totalBytes;
    if (isOver && stream.isTTY) stream.write('\r\u001b[K');
    const now = performance.now();
    if (isOver || now - last < (stream.isTTY ? terminalMs : everyMs)) return;
    last = now;
    const [done, total] = [doneBytes, totalBytes].map((bytes) => Math.round(bytes / 2 ** 20));
    const text = `  ${Math.floor((100 * doneBytes) / totalBytes)} %: ${done} of ${total} MiB read`;
    stream.write(stream.isTTY ? `\r${text}\u001b[K` : `${text}\n`);
  };
}
