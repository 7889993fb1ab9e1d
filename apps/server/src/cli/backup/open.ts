/** Opens the backups of a place: its name from the command line or the settings, its credentials, and the password. */
import { mkdir } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { backupPassword, placeOf, Repository } from '@lodge/backup';
import type { Place } from '@lodge/backup';
import type { Config } from '../../config/config.ts';
import { CommandError } from '../command.ts';
import type { MasterKey } from './master-key.ts';

export function placeFor(config: Config, positionals: readonly string[], command: string): Place {
  const [name = config.backupPlace, ...more] = positionals;
  if (name === null || more.length > 0) {
    throw new CommandError(
      `Name one place: npm run lodge -- ${command} FOLDER, or set LODGE_BACKUP_PLACE (docs/guides/backup.md).`,
    );
  }
  return placeOf(name, { sshConfig: config.backupSshConfig });
}

export async function openBackups<Create extends boolean>(
  config: Config,
  { place, key, credentials, create }: Opening<Create>,
): Promise<Create extends true ? Repository : Repository | null> {
  const cacheDir = place.folder === null ? join(config.cacheDir, 'restic') : null;
  if (cacheDir !== null) await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const options = { place, keyId: key.id, password: backupPassword(key.key), cacheDir, credentials };
  return (await Repository.open(options, { create })) as Repository;
}

interface Opening<Create extends boolean> {
  readonly place: Place;
  readonly key: MasterKey;
  readonly credentials: Readonly<Record<string, string>>;
  readonly create: Create;
}

export const noBackups = ({ name }: Place, key: MasterKey): CommandError =>
  new CommandError(`There is no whole backup under the master key ${key.id} in ${name}.`);

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}
