import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BackupError, openRepository } from '@lodge/backup';
import { MigrationError } from '@lodge/store';
import { readConfig } from '../../config/config.ts';
import { CommandError, commandLog, say } from '../command.ts';
import type { Command } from '../command.ts';
import { withDatabase } from '../with-store.ts';
import { noteLastBackup, readLastBackup } from './last-backup.ts';
import { makeBackup } from './make.ts';
import { existingMasterKey, writeMasterKey } from './master-key.ts';
import { isWithin, targetOf } from './target.ts';

/**
 * `backup FOLDER|s3://BUCKET/PREFIX [--keep N] [--with-key FILE]`. Everything but the master key, sealed under it; only what
 * changed since the last backup there is written. `--keep` removes older ones, `--with-key` writes a copy of the key elsewhere.
 */
export const backup: Command = async (args, env) => {
  const { values, positionals } = parseArgs({
    args,
    options: { keep: { type: 'string' }, 'with-key': { type: 'string' } },
    allowPositionals: true,
  });
  const config = readConfig(env);
  const target = targetOf(positionals, 'backup');
  const keep = keepOf(values.keep);
  const keyFile = values['with-key'] === undefined ? null : resolve(values['with-key']);
  if (target.folder !== null && isWithin(config.dataDir, target.folder)) {
    throw new CommandError(
      `${target.folder} lies in the data folder, which it is to be a backup of. Name another folder.`,
    );
  }
  if (keyFile !== null && target.folder !== null && isWithin(target.folder, keyFile)) {
    throw new CommandError(
      `${keyFile} lies in the backups' folder: who has both reads everything. Keep the key apart.`,
    );
  }
  const log = commandLog(env);
  const began = performance.now();
  await orCommandError(async () => {
    const place = await target.open(config, env);
    const key = await existingMasterKey(config, undefined);
    const repository = await openRepository(place, { masterKey: key.key, keyId: key.id, create: true });
    const unlock = await repository.lock();
    try {
      const last = await readLastBackup(config);
      if (last !== null && last.folder === place.name) await repository.know(last.name);
      const made = await withDatabase(config, log, (databaseUrl) =>
        makeBackup({ config, env, repository, databaseUrl, keep, log, tell: say }),
      );
      if (keyFile !== null) await writeKey(keyFile, key);
      await noteLastBackup(config, { at: made.list.at, folder: place.name, name: made.name });
      const { chunks, bytes } = repository.written;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      say(
        `Backup ${made.name} is whole: ${made.list.agents.length} agents, ${seconds} s, ${bytes} bytes in ${chunks} new chunks.`,
      );
      if (repository.listsLate) {
        say(`${place.name} lists late: what no backup needs any more was left there for the next time.`);
      }
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

function keepOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new CommandError(`--keep is a number of backups, 1 or more, not ${text}.`);
  return Number(text);
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
