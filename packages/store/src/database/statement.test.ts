import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store } = await testStore();

test("a prepared read goes on while another release's migration adds a column", async () => {
  const { id } = await store.agents.create(newAgent(await firstAccount(store.database)), admitAll);
  const before = await store.agents.find(id);
  assert.equal(before?.id, id);
  await execute(database.connectionString, 'alter table agents add column later text');
  assert.deepEqual(await store.agents.find(id), before);
});
