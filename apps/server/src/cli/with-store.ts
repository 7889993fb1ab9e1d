import { join } from 'node:path';
import type { Log } from '@lodge/ports';
import { embeddedConnectionString, migrate, openStore, startEmbeddedPostgres } from '@lodge/store';
import type { Store } from '@lodge/store';
import type { Config } from '../config/config.ts';
import {
  AlreadyRunningError,
  assertRestored,
  lockHolder,
  lockInstance,
  UnfinishedRestoreError,
} from '../host/instance-lock.ts';
import { CommandError } from './command.ts';

/** A command's name in the database's list of connections; the control plane's is `lodge`. */
const applicationName = 'lodge-command';

/**
 * Opens the deployment's store for a command: beside the control plane while it runs, else with a database started for it,
 * so that no control plane can start meanwhile. `alone` refuses the former.
 */
export async function withStore<T>(
  config: Config,
  log: Log,
  work: (store: Store) => Promise<T>,
  options: { readonly alone?: boolean } = {},
): Promise<T> {
  return withDatabase(
    config,
    log,
    async (url) => {
      const connectionString = `${url}${url.includes('?') ? '&' : '?'}application_name=${applicationName}`;
      await migrate({ connectionString });
      return useStore(connectionString, log, work);
    },
    options,
  );
}

/** Does the same with the database's URL, which may hold a password, and without migrating the database. */
export async function withDatabase<T>(
  config: Config,
  log: Log,
  work: (url: string) => Promise<T>,
  { alone = false }: { readonly alone?: boolean } = {},
): Promise<T> {
  if (!alone && (await lockHolder(config.dataDir))) {
    return work(config.databaseUrl ?? embeddedConnectionString(postgresFolder(config)));
  }
  const unlock = await orCommandError(lockInstance(config.dataDir));
  try {
    await orCommandError(assertRestored(config.dataDir));
    return await withOwnDatabase(config, log, work);
  } finally {
    await unlock();
  }
}

/** The caller has the instance's lock. */
export async function withOwnDatabase<T>(config: Config, log: Log, work: (url: string) => Promise<T>): Promise<T> {
  if (config.databaseUrl !== null) return work(config.databaseUrl);
  const postgres = await startEmbeddedPostgres({
    dataDir: postgresFolder(config),
    user: config.systemUser,
    client: config.controlUser,
    log,
  });
  try {
    return await work(postgres.connectionString);
  } finally {
    await postgres.stop();
  }
}

/** Opens the store of a database that is migrated. */
export async function useStore<T>(connectionString: string, log: Log, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ connectionString, log });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function orCommandError<T>(locking: Promise<T>): Promise<T> {
  try {
    return await locking;
  } catch (error) {
    const isPlain = error instanceof AlreadyRunningError || error instanceof UnfinishedRestoreError;
    if (isPlain) throw new CommandError(error.message, { cause: error });
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw error;
    throw new CommandError('Nothing was ever started here: the data folder does not exist.', { cause: error });
  }
}

const postgresFolder = (config: Config): string => join(config.dataDir, 'postgres');
