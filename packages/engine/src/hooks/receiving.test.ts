/** Bounds on messages that wait, on a real database, from two processes at once. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createSecretBox, cryptography } from '@lodge/access';
import { Refusal } from '@lodge/domain';
import type { HookWaitBounds } from '@lodge/domain';
import type { HookRow } from '@lodge/store/hooks';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, firstAccount, newAgent } from '../../../store/src/testing/fixture.ts';
import { makeHook } from '../../../store/src/testing/hook-fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';
import { createReceiving } from './receiving.ts';

const { database, store, another } = await testStore();
const stores = [store, await another()] as const;
const secrets = createSecretBox(randomBytes(32));
const wide = { ofHook: 1_000, ofAccount: 10_000, bytesOfAccount: 1e9 };
let sent = 0;

const run = (statement: string) => execute(database.connectionString, statement);
const hookOf = async (accountId: string): Promise<HookRow> => {
  const { id: agentId } = await store.agents.create(newAgent(accountId), admitAll);
  return makeHook(store, { accountId, agentId });
};
interface Given extends Partial<HookWaitBounds> {
  readonly delivery?: string;
  readonly text?: string;
}
/** Sends to the hook by one of the two; resolves with the message's id, or with the code of the refusal. */
async function send(hook: HookRow, { delivery, text = '{"a":1}', ...bounds }: Given = {}): Promise<string> {
  sent += 1;
  const given = { database: stores[sent % 2]!.database, tokens: cryptography.tokens, secrets };
  const receiving = createReceiving({ ...given, waitBounds: { ...wide, ...bounds } });
  const headers = delivery === undefined ? {} : { 'x-github-delivery': delivery };
  return receiving.receive(hook, { headers, body: Buffer.from(text) }).then(
    ({ id }) => id!,
    (error: unknown) => (error instanceof Refusal ? error.code : Promise.reject(error as Error)),
  );
}
const times = (n: number, one: (n: number) => Promise<string>): Promise<string[]> =>
  Promise.all(Array.from({ length: n }, (_, index) => one(index)));
const full = (all: readonly string[]): number => all.filter((one) => one === 'rate_limit_exceeded').length;
const waiting = async (accountId: string): Promise<number> =>
  (await run(`select from hook_messages where account_id = '${accountId}'`)).length;

test('a delivery is one message, in every process, and no more wait for a hook than may', async () => {
  const accountId = await firstAccount(store.database);
  const hook = await hookOf(accountId);
  assert.equal(new Set(await times(12, () => send(hook, { delivery: '1' }))).size, 1);
  assert.equal(full(await times(12, () => send(hook, { ofHook: 5 }))), 8);
  assert.equal(await waiting(accountId), 5);
  assert.equal(await send({ ...hook, id: 'nobody' }), 'route_not_found');
});

test('what waits for all agents of an account is bounded, in messages and in bytes', async () => {
  await run(`insert into accounts (id, name) values ('acc_wait', 'wait'), ('acc_other', 'other')`);
  const hooks = [await hookOf('acc_wait'), await hookOf('acc_wait')] as const;
  assert.equal(full(await times(12, (n) => send(hooks[n % 2]!, { ofAccount: 6 }))), 6);
  const text = `"${'é'.repeat(499)}"`;
  const bytesOfAccount = 6 * 7 + 3 * 1_000;
  assert.equal(full(await times(8, (n) => send(hooks[n % 2]!, { text, bytesOfAccount }))), 5);
  assert.equal(await waiting('acc_wait'), 9);
  // A repeated delivery adds nothing, and another account has its own bounds.
  const first = await send(hooks[0], { delivery: 'again' });
  assert.equal(await send(hooks[0], { delivery: 'again', ofAccount: 1 }), first);
  assert.notEqual(await send(await hookOf('acc_other'), { bytesOfAccount: 200 }), 'rate_limit_exceeded');
});
