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
  const opened: { close(): Promise<void> }[] = [];
  /** As another process would: they share nothing but the database. */
  const another = async (): Promise<Store> => {
    const store = await openStore({ ...database, log: silent });
    opened.push(store);
    return store;
  };
  /** Has it closed before the database is dropped, which ends whatever is connected. */
  const closes = (each: { close(): Promise<void> }): void => void opened.push(each);
  after(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await database.drop();
  });
  return { database, store: await another(), another, closes };
}
