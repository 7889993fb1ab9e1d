/** Tools that wait for a yes: those of an MCP server and Lodge's own; and two servers over one database. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { FakeHost } from '@lodge/vm/fake';
import { startMcpServer } from '../../../connections/src/testing/mcp-server.ts';
import { never, until } from '../../../testkit/src/plane/plane.ts';
import { RelayHand } from '../../../testkit/src/plane/relay-hand.ts';
import { openTestCalls } from './testing/calls.ts';
import type { TestCalls } from './testing/calls.ts';

const token = 'mark-7Qx9-Zt4Lw2Rk8Vb';
let calls: TestCalls;
let other: Awaited<ReturnType<TestCalls['open']>>;
let relay: RelayHand;
let server: Awaited<ReturnType<typeof startMcpServer>>;
/** Arguments with which the server's tool was called. */
const paid: Record<string, unknown>[] = [];
const pay = {
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object' },
  answer: (args: Record<string, unknown>) => {
    paid.push(args);
    return { content: [{ type: 'text', text: 'It is paid.' }] };
  },
};
const bank = { name: 'bank', kind: 'mcp', allow: [], tools: undefined, enabled: true, auth: undefined } as const;
const putBank = (url: string) =>
  calls
    .connections()
    .put(calls.accountId, calls.agentId, { ...bank, url, headers: { Authorization: `Bearer ${token}` } });

before(async () => {
  // A wait that is never looked at again: nothing but a notification ends it early.
  calls = await openTestCalls({ waitMs: 1_000, lookEveryMs: 60_000 });
  server = await startMcpServer({ token, tools: () => [pay, { ...pay, name: 'balance' }] });
  await putBank(server.url);
  relay = await RelayHand.of(calls.world.store, calls.accountId, calls.agentId);
  await relay.write('hello');
  await execute(
    calls.world.database.connectionString,
    `update channel_messages set state = 'answered'; update channel_conversations set waiting_since = null`,
  );
  other = await calls.open({}, new FakeHost());
});
after(async () => {
  other?.plane.kill();
  await other?.parts.close();
  await server?.close();
  await calls?.close();
});
beforeEach(async () => {
  await execute(calls.world.database.connectionString, 'delete from confirmations; delete from channel_answers');
  calls.calls.length = 0;
  paid.length = 0;
});

const yes = { decision: 'allow', reason: null, answer: null, remember: 'none' } as const;
const no = { ...yes, decision: 'deny', reason: 'Too dear.' } as const;
type Input = Parameters<TestCalls['plane']['confirmations']['decide']>[2];
const decide = (id: string, input: Input = yes) => calls.plane.confirmations.decide(calls.accountId, id, input);
const decideThere = (id: string, input: Input = yes) => other.plane.confirmations.decide(calls.accountId, id, input);
const find = (id: string) => calls.plane.confirmations.get(calls.accountId, id);

const ended: TestCalls['ended'] = (...given) => calls.ended(...given);

test('a tool of an MCP server waits, is shown with its arguments, and is called once after a yes', async () => {
  await calls.rule({ rules: [{ on: 'connection:bank', match: 'pay', policy: 'ask' }] });
  assert.equal((await calls.use('bank__balance', {})).isError, false);
  paid.length = 0;
  const first = calls.use('bank__pay', { cents: 1_700 });
  const row = await calls.asked();
  assert.equal(row.subject, 'connection:bank');
  assert.match(row.shown.quoted!, /1700/);
  assert.deepEqual(paid, []);
  await decide(row.id);
  assert.deepEqual(await first, { isError: false, text: 'It is paid.' });
  await ended(row.id, 'done');
  assert.deepEqual(paid, [{ cents: 1_700 }]);
  const second = calls.use('bank__pay', { cents: 9 });
  await decide((await calls.asked()).id, no);
  const { isError, text } = await second;
  assert.deepEqual([isError, /Too dear\./.test(text)], [true, true]);
  assert.equal(paid.length, 1);
});

test('a late yes calls the tool as it was shown, and one for a server that has moved calls nothing', async () => {
  await calls.rule({ rules: [{ on: 'connection:bank', match: '*', policy: 'ask' }] });
  const { isError, text } = await calls.use('bank__pay', { cents: 5 });
  assert.deepEqual([isError, /Not decided yet/.test(text)], [true, true]);
  const { id } = await calls.asked();
  await decide(id);
  await until('the agent is told', () => calls.told(id).length === 1);
  assert.match(calls.told(id)[0]!, /"status":"done"[\s\S]*It is paid\./);
  assert.deepEqual(paid, [{ cents: 5 }]);
  await calls.use('bank__pay', { cents: 6 });
  const moved = await calls.asked();
  await putBank(server.url.replace('/mcp', '/elsewhere'));
  await decide(moved.id);
  await ended(moved.id, 'failed');
  await putBank(server.url);
  assert.equal(paid.length, 1);
});

test("rules for messages, schedules and single tools hold for Lodge's own tools, by their arguments too", async () => {
  await calls.rule({
    rules: [
      { on: 'tool:schedule_delete', match: '*', policy: 'deny' },
      { on: 'schedules', match: '*', policy: 'ask' },
      { on: 'messages', match: '*secret*', policy: 'deny' },
      { on: 'messages', match: '*', policy: 'ask' },
    ],
  });
  const to = { channel: 'telegram', conversation: 'c1' };
  const schedule = { name: 'Tea', prompt: 'Say that it is time.', in_minutes: 600 };
  assert.equal((await calls.use('schedule_list', {})).text, '{"schedules":[]}');
  assert.match((await calls.use('send_message', { ...to, text: 'A SECRET' })).text, /rule of the owner denies/);
  assert.match((await calls.use('schedule_delete', { id: 'x' })).text, /rule of the owner denies/);
  assert.match((await calls.use('send_message', { ...to })).text, /text is missing/);
  assert.deepEqual(await calls.list(), []);

  const sending = calls.use('send_message', { ...to, text: 'It is time.' });
  const message = await calls.asked();
  assert.deepEqual([message.subject, message.shown.quoted!.includes('It is time.')], ['tool:send_message', true]);
  assert.deepEqual(await relay.sendAll(), []);
  await decide(message.id);
  assert.equal((await sending).isError, false);
  assert.deepEqual(await relay.answer(), ['It is time.']);

  // Two late decisions: the queue makes one, and the other is never made.
  await calls.use('schedule_create', schedule);
  const made = await calls.asked();
  await decide(made.id);
  await ended(made.id, 'done');
  await calls.use('schedule_create', { ...schedule, name: 'Coffee' });
  await decide((await calls.asked()).id, no);
  const schedules = await calls.plane.schedules.list(calls.accountId, calls.agentId);
  assert.deepEqual(
    schedules.map(({ name }) => name),
    ['Tea'],
  );
});

test('a rule for one tool goes before the default, which leaves those alone that only read', async () => {
  await calls.rule({ rules: [{ on: 'tool:agents_list', match: '*', policy: 'deny' }], default: 'ask' });
  assert.match((await calls.use('agents_list', {})).text, /rule of the owner denies/);
  assert.equal((await calls.use('usage_now', {})).isError, false);
  const asking = calls.use('schedule_create', { name: 'Tea', prompt: 'x', in_minutes: 600 });
  await decide((await calls.asked()).id, no);
  assert.match((await asking).text, /Too dear\./);
});

test('a decision on another server wakes the call, which one server alone makes', async () => {
  await calls.restart({ waitMs: 20_000 });
  await calls.rule({ rules: [{ on: 'connection:stripe', match: '*', policy: 'ask' }] });
  for (let round = 1; round <= 5; round += 1) {
    const sending = calls.send('/refunds');
    const { id } = await calls.asked();
    const both = await Promise.allSettled([decideThere(id), decide(id, no)]);
    assert.equal(both.filter(({ status }) => status === 'fulfilled').length, 1);
    const isAllowed = both[0].status === 'fulfilled';
    assert.equal((await sending).status, isAllowed ? 200 : 403);
    await ended(id, isAllowed ? 'done' : 'denied');
    assert.equal(calls.calls.length, isAllowed ? 1 : 0);
    calls.calls.length = 0;
  }
  const sending = calls.send('/refunds');
  const { id } = await calls.asked();
  const began = performance.now();
  await decideThere(id);
  assert.equal((await sending).status, 200);
  assert.ok(performance.now() - began < 10_000, 'a notification has woken it, and not the end of the wait');
  await calls.restart();
});

test('a call is begun once when the queue, and a waiting call or another server, begin it at the same time', async () => {
  await calls.rule({ rules: [{ on: 'connection:stripe', match: '*', policy: 'ask' }] });
  const { agentId, accountId } = calls;
  const note = { by: { actor: { kind: 'account', id: accountId }, address: '::1', requestId: 'r' } } as never;
  const sql = (text: string) => execute(calls.world.database.connectionString, text);
  // Whoever begins first takes so long that the other one has seen an allowed call, too.
  await sql(
    `create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(0.4); return new; end $$`,
  );
  await sql(
    `create trigger linger before update on confirmations for each row
       when (old.status = 'allowed' and new.status = 'sending') execute function linger()`,
  );
  for (const isLate of [true, false, true, false]) {
    const sending = calls.send('/refunds');
    if (isLate) await sending;
    const { id } = await calls.asked();
    const deciding = isLate
      ? other.plane.engine.decideInTurn({ agentId, accountId, note, signal: never }, [
          { id, isAllowed: true, words: null },
        ])
      : decideThere(id);
    await until('it is allowed', async () => (await find(id)).status !== 'pending');
    await sql(
      `with due as (update work set due_at = clock_timestamp() where id = '${id}' returning agent_id)
       select pg_notify('work', agent_id) from due`,
    );
    const [decided] = await Promise.all([deciding, sending]);
    // The turn that decides tells the agent: until it has, the queue keeps the work.
    if ('ended' in decided) await decided.ended(true);
    await until('it has its end', async () => !['allowed', 'sending'].includes((await find(id)).status));
    await until('its work is over', async () => (await sql(`select from work where id = '${id}'`)).length === 0);
    assert.equal(calls.calls.length, 1);
    calls.calls.length = 0;
  }
  await sql('drop trigger linger on confirmations');
});
