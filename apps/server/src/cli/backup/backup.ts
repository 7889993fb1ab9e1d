import { mkdir, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BackupError, openRepository } from '@lodge/backup';
import { MigrationError } from '@lodge/store';
import { readConfig } from '../../config/config.ts';
import { CommandError, commandLog, say } from '../command.ts';
import type { Command } from '../command.ts';
import { withDatabase } from '../with-store.ts';
import { lastBackupName } from './last-backup.ts';
import { makeBackup } from './make.ts';
import { existingMasterKey, writeMasterKey } from './master-key.ts';

/**
 * `backup FOLDER [--keep N] [--with-key FILE]`. Everything but the master key, sealed under it; only what changed since the
 * last backup there is written. `--keep` removes older ones, `--with-key` writes a copy of the key to another place.
 */
export const backup: Command = async (args, env) => {
  const { values, positionals } = parseArgs({
    args,
    options: { keep: { type: 'string' }, 'with-key': { type: 'string' } },
    allowPositionals: true,
  });
  const config = readConfig(env);
  const folder = folderOf(positionals, 'backup');
  const keep = keepOf(values.keep);
  const keyFile = values['with-key'] === undefined ? null : resolve(values['with-key']);
  if (isWithin(config.dataDir, folder)) {
    throw new CommandError(`${folder} lies in the data folder, which it is to be a backup of. Name another folder.`);
  }
  if (keyFile !== null && isWithin(folder, keyFile)) {
    throw new CommandError(
      `${keyFile} lies in the backups' folder: who has both reads everything. Keep the key apart.`,
    );
  }
  const log = commandLog(env);
  const began = performance.now();
  await orCommandError(async () => {
    const key = await existingMasterKey(config, undefined);
    const repository = await openRepository(folder, { masterKey: key.key, keyId: key.id, create: true });
    const unlock = await repository.lock();
    try {
      const made = await withDatabase(config, log, (databaseUrl) =>
        makeBackup({ config, env, repository, databaseUrl, keep, log, tell: say }),
      );
      if (keyFile !== null) await writeKey(keyFile, key);
      const note = JSON.stringify({ at: made.list.at, folder, name: made.name });
      await writeFile(join(config.dataDir, lastBackupName), `${note}\n`, { mode: 0o600 });
      const { chunks, bytes } = repository.written;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      say(
        `Backup ${made.name} is whole: ${made.list.agents.length} agents, ${seconds} s, ${bytes} bytes in ${chunks} new chunks.`,
      );
      if (made.gone.length > 0) say(`Removed ${made.gone.length} older: ${made.gone.join(', ')}.`);
      say(`The master key is not in it: ${key.where}. Without that key the backup cannot be read. Keep a copy apart.`);
      if (keyFile !== null) say(`A copy of the key is ${keyFile}. Whoever has it and the backup reads everything.`);
    } finally {
      unlock();
    }
  });
  return 0;
};

async function writeKey(file: string, key: Awaited<ReturnType<typeof existingMasterKey>>): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
  await writeMasterKey(file, key);
}

export function folderOf(positionals: readonly string[], command: string): string {
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0)
    throw new CommandError(`Name one folder: npm run lodge -- ${command} FOLDER`);
  if (/^[a-z0-9]+:\/\//i.test(folder))
    throw new CommandError(`${folder} is no folder. Backups go to folders only so far.`);
  return resolve(folder);
}

function keepOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new CommandError(`--keep is a number of backups, 1 or more, not ${text}.`);
  return Number(text);
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

/** What the operator can do something about is said as it is. */
export async function orCommandError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isPlain = error instanceof BackupError || error instanceof MigrationError;
    throw isPlain ? new CommandError(error.message, { cause: error }) : error;
  }
}
