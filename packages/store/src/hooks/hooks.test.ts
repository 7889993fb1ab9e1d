import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomBytes } from 'node:crypto';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { makeHook } from '../testing/hook-fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { findHook, hookByToken, hooksOf } from './index.ts';
import type { HookPlace, HookRow } from './index.ts';

const { store } = await testStore();
const accountId = await firstAccount(store.database);

const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const made = (agentId: string, given: Parameters<typeof makeHook>[2] = {}) =>
  makeHook(store, { accountId, agentId }, given);
const place = ({ accountId: of, agentId, id }: HookRow) => ({ accountId: of, agentId, hookId: id });

test('a hook is found by its place and by the hash of its token alone', async () => {
  const tokenHash = randomBytes(32);
  const row = await made(await agent(), { template: '{{a}}', tokenHash });
  const find = (of: Partial<HookPlace> = {}) =>
    store.database.repeatable((db) => findHook(db, { ...place(row), ...of }));
  assert.deepEqual(await store.database.repeatable((db) => hookByToken(db, tokenHash)), row);
  assert.equal(await store.database.repeatable((db) => hookByToken(db, randomBytes(32))), undefined);
  assert.deepEqual([await find(), await find({ accountId: 'other' })], [row, undefined]);
  assert.deepEqual(await store.database.repeatable((db) => hooksOf(db, accountId, row.agentId)), [row]);
});
