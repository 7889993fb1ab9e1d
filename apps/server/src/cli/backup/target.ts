/** Where a backup goes to or comes from, as it is named on the command line. */
import { isAbsolute, relative, resolve } from 'node:path';
import { bucketOf, FolderPlace, S3Place } from '@lodge/backup';
import type { Place } from '@lodge/backup';
import type { Config } from '../../config/config.ts';
import { CommandError } from '../command.ts';
import { takeCredentials } from './credentials.ts';

export interface Target {
  /** Null: it is no folder of this machine. */
  readonly folder: string | null;
  /** Reads the credentials, where it needs any: once, before anything else is started. */
  open(config: Config, env: NodeJS.ProcessEnv): Promise<Place>;
}

export function targetOf(positionals: readonly string[], command: string): Target {
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) {
    throw new CommandError(
      `Name one folder or one bucket: npm run lodge -- ${command} FOLDER, or ${command} s3://bucket/prefix`,
    );
  }
  if (/^s3:\/\//i.test(name)) return { folder: null, open: (config, env) => openBucket(name, config, env) };
  if (/^[a-z0-9]+:\/\//i.test(name)) {
    throw new CommandError(`Backups go to a folder or to s3://bucket/prefix. ${name.split('://')[0]} is neither.`);
  }
  const folder = resolve(name);
  return { folder, open: async () => new FolderPlace(folder) };
}

async function openBucket(name: string, config: Config, env: NodeJS.ProcessEnv): Promise<Place> {
  const region = config.backupS3Region;
  const endpoint = config.backupS3Endpoint ?? `https://s3.${region}.amazonaws.com`;
  return new S3Place({ endpoint, region, ...bucketOf(name), credentials: await takeCredentials(config, env) });
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}
