/* oxlint-disable no-restricted-imports -- only tests import this file */
import { after } from 'node:test';
import { testDatabase } from '@lodge/testkit/postgres';
import { silent } from './fixture.ts';
import { openTestStore } from './agents-fixture.ts';
import type { TestStore } from './agents-fixture.ts';

/** Returns a store over a separate database for a file of tests. Both end with the file's last test. */
export async function testStore() {
  const database = await testDatabase();
  const opened: { close(): Promise<void> }[] = [];
  /** Opens another store, like another process: they share only the database. */
  const another = async (): Promise<TestStore> => {
    const store = await openTestStore({ ...database, log: silent });
    opened.push(store);
    return store;
  };
  /** Registers an object to close before the database is dropped, which ends every connection. */
  const closes = (each: { close(): Promise<void> }): void => void opened.push(each);
  after(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await database.drop();
  });
  return { database, store: await another(), another, closes };
}
