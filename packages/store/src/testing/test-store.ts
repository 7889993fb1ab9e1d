/* oxlint-disable no-restricted-imports -- only tests import this file */
import { after } from 'node:test';
import { testDatabase } from '@lodge/testkit/postgres';
import { silent } from './fixture.ts';
import { migrate } from '../database/migrate.ts';
import { openStore } from '../store.ts';
import type { Store } from '../store.ts';

/** For a file of tests: a store over a database of its own, which end with the file's last test. */
export async function testStore() {
  const database = await testDatabase();
  await migrate(database);
  const opened: Store[] = [];
  /** As another process would: they share nothing but the database. */
  const another = async (): Promise<Store> => {
    const store = await openStore({ ...database, log: silent });
    opened.push(store);
    return store;
  };
  after(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await database.drop();
  });
  return { database, store: await another(), another };
}
