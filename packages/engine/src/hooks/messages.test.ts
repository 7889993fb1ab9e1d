import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf } from '../../../store/src/testing/channel-fixture.ts';
import { admitAll, firstAccount, newAgent } from '../../../store/src/testing/fixture.ts';
import { makeHook, sendTo } from '../../../store/src/testing/hook-fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';
import { deleteHook, hookMessages } from '@lodge/store/hooks';
import type { HookRow } from '@lodge/store/hooks';
import type { ClaimedMessage } from '@lodge/store/work';
import { WorkHand } from '../../../testkit/src/plane/work-hand.ts';
import { defaultHookBounds } from './bounds.ts';
import { hookMessages as messagesKind } from './messages.ts';
import { logPage } from '@lodge/store/logs';
import { deleteChannel } from '@lodge/store/channels';

const { database, store, another } = await testStore();
const other = await another();
const hourMs = 3_600_000;
const bounds = { ...defaultHookBounds, maxWaitMs: hourMs };
const [turns, otherTurns] = [store, other].map(
  (of) => new WorkHand<ClaimedMessage>(of, 'message', messagesKind(bounds)),
) as [WorkHand<ClaimedMessage>, WorkHand<ClaimedMessage>];
const accountId = await firstAccount(store.database);

const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const made = (agentId: string, given: Parameters<typeof makeHook>[2] = {}) =>
  makeHook(store, { accountId, agentId }, given);
const place = ({ accountId: of, agentId, id }: HookRow) => ({ accountId: of, agentId, hookId: id });
const messagesOf = (row: HookRow) => store.database.repeatable((db) => hookMessages(db, place(row), { limit: 100 }));
const states = async (row: HookRow) =>
  (await messagesOf(row)).map(({ status, isClaimed }) => status ?? (isClaimed ? 'answering' : 'received'));
const receive = (row: HookRow, given = {}, by = store): Promise<string> => sendTo(by, row, given);
const claim = (by = turns, given: Parameters<typeof turns.claim>[0] = {}) => by.claim(given);
const answered = { outcome: 'answered', reason: null, answer: 'Done.' } as const;
/** Claims until the hook's message is among the claims; the others end. */
async function claimOf(row: HookRow, by = turns, leaseMs = 30_000): Promise<ClaimedMessage> {
  for (;;) {
    const claimed = await claim(by, { leaseMs });
    const found = claimed.find(({ facts: { hook } }) => hook.id === row.id);
    for (const each of claimed) if (each !== found) await by.end(each, answered);
    if (found) return found;
    assert.ok(claimed.length > 0, 'nothing to claim');
  }
}
const run = (statement: string) => execute(database.connectionString, statement);

test('one message of an agent at a time, in their order', async () => {
  const agentId = await agent();
  const [one, two] = [await made(agentId), await made(agentId)];
  const [first, second] = [await receive(one), await receive(two)];
  const held = await claimOf(one);
  assert.equal(held.id, first);
  assert.equal((await claim(otherTurns)).filter(({ facts: { hook } }) => hook.agentId === agentId).length, 0);
  assert.deepEqual(await states(one), ['answering']);
  assert.ok(await turns.end(held, answered));
  assert.equal((await claimOf(two)).id, second);
});

test('no account before all others', async () => {
  await run(`insert into accounts (id, name) values ('acc_few', 'few')`);
  const few = (await store.agents.create(newAgent('acc_few'), admitAll)).id;
  for (let n = 0; n < 4; n += 1) await receive(await made(await agent()));
  await receive(await makeHook(store, { accountId: 'acc_few', agentId: few }));
  const claimed = await claim(turns, { limit: 3 });
  assert.ok(claimed.some(({ facts: { hook } }) => hook.accountId === 'acc_few'));
  for (const each of [...claimed, ...(await claim())]) await turns.end(each, answered);
});

test('what an earlier claimer writes is refused; who claims after it knows that it may have acted', async () => {
  const row = await made(await agent());
  const id = await receive(row);
  const old = await claimOf(row, turns, 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const next = await claimOf(row, otherTurns);
  assert.deepEqual([next.id, next.claim, next.attempts, next.mayHaveActed], [id, old.claim + 1, 1, true]);
  assert.equal(await turns.end(old, answered), false);
  assert.equal(await turns.postpone(old, { afterMs: 0, reason: 'x', mayHaveActed: true }), false);
  assert.deepEqual(await turns.renew([old, next], 30_000), new Set([id]));
  assert.ok(await otherTurns.end(next, { outcome: 'failed', reason: 'It broke.', answer: null }));
  assert.deepEqual(await states(row), ['failed']);
  const events = await store.events.page({
    accountId,
    agentId: row.agentId,
    limit: 10,
    direction: 'asc',
    types: ['hook.failed'],
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['hook.failed'],
  );
});

test('an answer is in its conversation with the end of the message, once, or the message has failed', async () => {
  const agentId = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [agentId]);
  await store.relay.receive(lease!, [inbound()]);
  const row = await made(agentId, { deliverTo: 'channel', deliverChannel: 'telegram', deliverConversation: 'c1' });
  await receive(row);
  const claimed = await claimOf(row);
  const answer = `Done.\n${'x'.repeat(20_000)}`;
  assert.ok(await turns.end(claimed, { ...answered, answer }));
  assert.equal(await otherTurns.end(claimed, { ...answered, answer }), false);
  const parts = await store.relay.partsToSend([lease!], 9);
  assert.deepEqual(
    parts.map(({ content }) => content),
    [{ kind: 'markdown', markdown: answer }],
  );
  await store.database.transaction((trx) => deleteChannel(trx, { accountId, agentId, channel: 'telegram' }));
  await receive(row);
  await turns.end(await claimOf(row), answered);
  const [failed] = await messagesOf(row);
  assert.equal(failed?.status, 'failed');
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
  const row = await made(await agent(), { deliverTo: 'webhook' });
  await receive(row);
  await turns.end(await claimOf(row), { ...answered, answer: `a\nb ${'x'.repeat(20_000)}` });
  const page = { accountId, agentId: row.agentId, limit: 10, direction: 'desc' } as const;
  const [event] = await store.events.page({ ...page, types: ['hook.answered'] });
  assert.equal(String(event?.data['answer']).length, 16_384);
  const log = await store.database.repeatable((db) =>
    logPage(db, { agentId: row.agentId, limit: 10, direction: 'desc' }),
  );
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
  assert.ok(await turns.postpone(claimed, { afterMs: 60_000, reason: 'Busy.', mayHaveActed: false }));
  assert.equal((await claim()).length, 0);
  const [message] = await messagesOf(row);
  assert.deepEqual([message!.status, message!.reason], [null, 'Busy.']);
  for (const [lackedRoom, attempts] of [
    [true, 1],
    [true, 1],
    [false, 2],
  ] as const) {
    await run(`update work set due_at = now() where id = '${claimed.id}'`);
    const again = await claimOf(row);
    assert.equal(again.attempts, 1);
    await turns.postpone(again, { afterMs: 60_000, reason: 'No room.', mayHaveActed: false, lackedRoom });
    assert.equal((await messagesOf(row))[0]!.attempts, attempts, 'only the first attempt without room counts');
  }
});

test('with an agent that is deleted, or a hook that is removed, all of it goes', async () => {
  const row = await made(await agent());
  await receive(row);
  const claimed = await claimOf(row);
  assert.equal((await store.database.transaction((trx) => deleteHook(trx, place(row))))?.id, row.id);
  assert.deepEqual(await turns.renew([claimed], 30_000), new Set());
  assert.equal(await turns.end(claimed, answered), false);
  assert.deepEqual(await run(`select from hook_messages where hook_id = '${row.id}'`), []);
});

test('who waits in vain has failed, and old messages go', async () => {
  const row = await made(await agent());
  const [old] = [await receive(row), await receive(row, { deliveryId: 'github:2' })];
  await run(`update work set due_at = now() - interval '2 hours' where id = '${old}'`);
  await turns.tidy({ ...bounds, kept: 100, maxAgeMs: hourMs });
  assert.deepEqual(await states(row), ['received', 'failed']);
  assert.match((await messagesOf(row))[1]!.reason!, /within 1 hours/);
  await turns.tidy({ ...bounds, kept: 0, maxAgeMs: hourMs });
  assert.deepEqual(await states(row), ['received']);
});
