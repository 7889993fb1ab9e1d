import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimedHookMessage, HookRow, NewHook } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf } from '../testing/channel-fixture.ts';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { hookId, newHook, sent } from '../testing/hook-fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store, another } = await testStore();
const other = await another();
const accountId = await firstAccount(store.apiKeys);

const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
async function made(agentId: string, given: Partial<NewHook> = {}): Promise<HookRow> {
  const row = await store.hooks.create({ accountId, agentId, hookId: hookId() }, newHook(given), 1_000);
  assert.ok(typeof row === 'object');
  return row;
}
const place = ({ accountId: of, agentId, id }: HookRow) => ({ accountId: of, agentId, hookId: id });
const messagesOf = (row: HookRow) => store.hooks.messages(place(row), { limit: 100 });
const states = async (row: HookRow) => (await messagesOf(row)).map(({ state }) => state);
const wide = { ofHook: 1_000, ofAccount: 10_000, bytesOfAccount: 1e9 };
const receive = async (row: HookRow, given = {}, by = store): Promise<string> => {
  const kept = await by.hooks.receive(row.id, sent(given), wide);
  assert.ok(typeof kept === 'object');
  return kept.id;
};
const claim = (by = store, given: { limit?: number; leaseMs?: number; except?: readonly string[] } = {}) =>
  by.hookTurns.claim({ holder: 'h', host: 'here', limit: 100, leaseMs: 30_000, except: [], ...given });
const answered = { outcome: 'answered', reason: null, answer: 'Done.' } as const;
/** Claims until the hook's message is among the claims; the others end. */
async function claimOf(row: HookRow, by = store, leaseMs = 30_000): Promise<ClaimedHookMessage> {
  for (;;) {
    const claimed = await claim(by, { leaseMs });
    const found = claimed.find(({ hook }) => hook.id === row.id);
    for (const each of claimed) if (each !== found) await by.hookTurns.end(each, answered);
    if (found) return found;
    assert.ok(claimed.length > 0, 'nothing to claim');
  }
}
const run = (statement: string) => execute(database.connectionString, statement);

test('a hook is what it was made as, and is found by the hash of its token alone', async () => {
  const hook = newHook({
    template: '{{a}}',
    conversation: 'c',
    signature: {
      kind: 'hmac',
      own: { header: 'X-S', encoding: 'base64', prefix: '' },
      sealed: 'v2.k.x',
      last4: 'wxyz',
    },
  });
  const row = await made(await agent(), hook);
  const { tokenHash, ...rest } = hook;
  assert.deepEqual(row, { ...row, ...rest });
  assert.deepEqual(await store.hooks.findByToken(tokenHash), row);
  assert.equal(await store.hooks.findByToken(newHook().tokenHash), null);
  assert.equal(await store.hooks.find({ ...place(row), accountId: 'other' }), null);
  assert.deepEqual(await store.hooks.list(accountId, row.agentId), [row]);
});

test('an agent has no more than it may, however many ask at once', async () => {
  const agentId = await agent();
  const all = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      (n % 2 ? store : other).hooks.create({ accountId, agentId, hookId: hookId() }, newHook(), 3),
    ),
  );
  assert.equal(all.filter((row) => row === 'full').length, 7);
  const alien = { accountId: 'other', agentId, hookId: hookId() };
  assert.equal(await store.hooks.create(alien, newHook(), 30), 'no_agent');
});

test('a delivery is one message, in every process, and no more wait than may', async () => {
  const row = await made(await agent());
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, n) => receive(row, { deliveryId: 'github:1' }, n % 2 ? store : other)),
  );
  assert.equal(new Set(ids).size, 1);
  const many = await Promise.all(
    Array.from({ length: 12 }, (_, n) => (n % 2 ? store : other).hooks.receive(row.id, sent(), { ...wide, ofHook: 5 })),
  );
  assert.equal(many.filter((kept) => kept === 'full').length, 8);
  assert.equal((await messagesOf(row)).length, 5);
  assert.equal(await store.hooks.receive('nobody', sent(), wide), 'gone');
});

test('what waits for all agents of an account is bounded, in messages and in bytes', async () => {
  const [account] = await run(`insert into accounts (id, name) values ('acc_wait', 'wait') returning id`);
  assert.ok(account);
  const of = async () => {
    const { id: agentId } = await store.agents.create(newAgent('acc_wait'), admitAll);
    const row = await store.hooks.create({ accountId: 'acc_wait', agentId, hookId: hookId() }, newHook(), 10);
    assert.ok(typeof row === 'object');
    return row;
  };
  const [one, two] = [await of(), await of()];
  const put = (n: number, message: object, bounds: object) =>
    (n % 2 ? store : other).hooks.receive((n % 3 ? one : two).id, sent(message), { ...wide, ...bounds });
  const counted = await Promise.all(Array.from({ length: 12 }, (_, n) => put(n, {}, { ofAccount: 6 })));
  assert.equal(counted.filter((kept) => kept === 'account_full').length, 6);
  const text = `"${'é'.repeat(499)}"`;
  const bytesOfAccount = 6 * 7 + 3 * 1_000;
  const weighed = await Promise.all(Array.from({ length: 8 }, (_, n) => put(n, { text }, { bytesOfAccount })));
  assert.equal(weighed.filter((kept) => kept === 'account_full').length, 5);
  assert.equal((await messagesOf(one)).length + (await messagesOf(two)).length, 9);
  // A repeated delivery adds nothing, and another account has its own bounds.
  const again = { deliveryId: 'github:again' };
  assert.ok(typeof (await put(1, again, {})) === 'object');
  assert.deepEqual(await put(1, again, { ofAccount: 1 }), await put(1, again, { ofAccount: 1 }));
  assert.ok(typeof (await put(1, again, { ofAccount: 1 })) === 'object');
  const mine = await made(await agent());
  assert.ok(typeof (await store.hooks.receive(mine.id, sent(), { ...wide, bytesOfAccount: 200 })) === 'object');
  await run(`delete from hooks where account_id = 'acc_wait' or id = '${mine.id}'`);
});

test('one message of an agent at a time, in their order', async () => {
  const agentId = await agent();
  const [one, two] = [await made(agentId), await made(agentId)];
  const [first, second] = [await receive(one), await receive(two)];
  const held = await claimOf(one);
  assert.equal(held.id, first);
  assert.equal((await claim(other)).filter(({ hook }) => hook.agentId === agentId).length, 0);
  assert.deepEqual(await states(one), ['answering']);
  assert.ok(await store.hookTurns.end(held, answered));
  assert.equal((await claimOf(two)).id, second);
});

test('no account before all others', async () => {
  await run(`insert into accounts (id, name) values ('acc_few', 'few')`);
  const few = (await store.agents.create(newAgent('acc_few'), admitAll)).id;
  for (let n = 0; n < 4; n += 1) await receive(await made(await agent()));
  const late = await store.hooks.create({ accountId: 'acc_few', agentId: few, hookId: hookId() }, newHook(), 10);
  assert.ok(typeof late === 'object');
  await receive(late);
  const claimed = await claim(store, { limit: 3 });
  assert.ok(claimed.some(({ hook }) => hook.accountId === 'acc_few'));
  for (const each of [...claimed, ...(await claim())]) await store.hookTurns.end(each, answered);
});

test('what an earlier claimer writes is refused; who claims after it knows that it may have acted', async () => {
  const row = await made(await agent());
  const id = await receive(row);
  const old = await claimOf(row, store, 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const next = await claimOf(row, other);
  assert.deepEqual([next.id, next.claim, next.attempts, next.mayHaveActed], [id, old.claim + 1, 1, true]);
  assert.equal(await store.hookTurns.end(old, answered), false);
  assert.equal(await store.hookTurns.postpone(old, { afterMs: 0, reason: 'x', mayHaveActed: true }), false);
  assert.deepEqual(await store.hookTurns.renew([old, next], 30_000), new Set([id]));
  assert.ok(await other.hookTurns.end(next, { outcome: 'failed', reason: 'It broke.', answer: null }));
  assert.deepEqual(await states(row), ['failed']);
  const events = await store.events.page({
    accountId,
    agentId: row.agentId,
    limit: 10,
    direction: 'asc',
    types: ['hook.created', 'hook.received', 'hook.failed'],
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['hook.created', 'hook.received', 'hook.failed'],
  );
});

test('an answer is in its conversation with the end of the message, once, or the message has failed', async () => {
  const agentId = await agentWithChannel(store, accountId);
  const deliver = { to: 'channel', channel: 'telegram', conversation: 'c1' } as const;
  const create = () => store.hooks.create({ accountId, agentId, hookId: hookId() }, newHook({ deliver }), 10);
  assert.equal(await create(), 'no_conversation');
  const [lease] = await leasesOf(store, [agentId]);
  await store.relay.receive(lease!, [inbound()]);
  const row = await create();
  assert.ok(typeof row === 'object');
  assert.deepEqual(row.deliver, deliver);
  await receive(row);
  const claimed = await claimOf(row);
  const answer = `Done.\n${'x'.repeat(20_000)}`;
  assert.ok(await store.hookTurns.end(claimed, { ...answered, answer }));
  assert.equal(await other.hookTurns.end(claimed, { ...answered, answer }), false);
  const parts = await store.relay.partsToSend([lease!], 9);
  assert.deepEqual(
    parts.map(({ content }) => content),
    [{ kind: 'markdown', markdown: answer }],
  );
  await store.channels.remove(accountId, agentId, 'telegram');
  await receive(row);
  await store.hookTurns.end(await claimOf(row), answered);
  const [failed] = await messagesOf(row);
  assert.equal(failed?.state, 'failed');
  assert.match(failed?.reason ?? '', /conversation that the answer goes to is not there/);
  const listed = await store.events.page({
    accountId,
    agentId,
    limit: 10,
    direction: 'asc',
    types: ['hook.answered', 'hook.failed'],
  });
  assert.deepEqual(
    listed.map(({ type, data }) => [type, data['deliver'], data['answer'], data['reason']]),
    [
      ['hook.answered', 'channel', undefined, undefined],
      ['hook.failed', undefined, undefined, failed?.reason],
    ],
  );
});

test('an event has the answer where the owner wants it there, and the log one line of it', async () => {
  const row = await made(await agent(), { deliver: { to: 'webhook', channel: null, conversation: null } });
  await receive(row);
  await store.hookTurns.end(await claimOf(row), { ...answered, answer: `a\nb ${'x'.repeat(20_000)}` });
  const page = { accountId, agentId: row.agentId, limit: 10, direction: 'desc' } as const;
  const [event] = await store.events.page({ ...page, types: ['hook.answered'] });
  assert.equal(String(event?.data['answer']).length, 16_384);
  const log = await store.agentLogs.page({ agentId: row.agentId, limit: 10, direction: 'desc' });
  const line = log.find(({ message }) => message.startsWith('Hook "H" was answered: a b x'));
  assert.equal(line?.message.length, 'Hook "H" was answered: '.length + 500);
});

test('a claim from before the clock went back is nobody’s, and what it put off is due', async () => {
  const row = await made(await agent());
  const id = await receive(row);
  await claimOf(row);
  await run(`update work set claim_until = now() + interval '1 day' where id = '${id}'`);
  assert.equal((await claimOf(row)).id, id);
  await run(
    `update work set claim_until = null, claim_holder = null, due_at = now() + interval '1 day' where id = '${id}'`,
  );
  assert.equal((await claimOf(row)).id, id);
});

test('a message that is put off waits, and begins anew', async () => {
  const row = await made(await agent());
  await receive(row);
  const claimed = await claimOf(row);
  assert.ok(await store.hookTurns.postpone(claimed, { afterMs: 60_000, reason: 'Busy.', mayHaveActed: false }));
  assert.equal((await claim()).length, 0);
  const [message] = await messagesOf(row);
  assert.deepEqual([message!.state, message!.reason], ['received', 'Busy.']);
});

test('with an agent that is deleted, or a hook that is removed, all of it goes', async () => {
  const row = await made(await agent());
  await receive(row);
  const claimed = await claimOf(row);
  assert.ok(await store.hooks.remove(place(row)));
  assert.equal(await store.hooks.remove(place(row)), false);
  assert.deepEqual(await store.hookTurns.renew([claimed], 30_000), new Set());
  assert.equal(await store.hookTurns.end(claimed, answered), false);
  assert.deepEqual(await run(`select from hook_messages where hook_id = '${row.id}'`), []);
});

test('who waits in vain has failed, and old messages go', async () => {
  const row = await made(await agent());
  const [old] = [await receive(row), await receive(row, { deliveryId: 'github:2' })];
  await run(`update work set due_at = now() - interval '2 hours' where id = '${old}'`);
  const bounds = { maxWaitMs: 3_600_000, kept: 100, maxAgeMs: 3_600_000 };
  await store.hookTurns.tidy(bounds);
  assert.deepEqual(await states(row), ['received', 'failed']);
  assert.match((await messagesOf(row))[1]!.reason!, /within 1 hours/);
  await store.hookTurns.tidy({ ...bounds, kept: 0 });
  assert.deepEqual(await states(row), ['received']);
});
