import { join } from 'node:path';
import type { Log } from '@lodge/ports';
import { embeddedConnectionString, openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import type { Config } from '../../config/config.ts';
import { exists } from '../../host/files.ts';

/** Null when no database runs. */
export async function askStore<T>(
  { databaseUrl, dataDir }: Config,
  log: Log,
  ask: (store: Store) => Promise<T>,
): Promise<T | null> {
  const postgres = join(dataDir, 'postgres');
  if (databaseUrl === null && !(await exists(join(postgres, 'cluster', 'postmaster.pid')))) return null;
  const connectionString = databaseUrl ?? embeddedConnectionString(postgres);
  try {
    const store = await openStore({ connectionString, log });
    try {
      return await ask(store);
    } finally {
      await store.close();
    }
  } catch {
    // The section about the database says more.
    return null;
  }
}
