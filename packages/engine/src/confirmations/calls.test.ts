/** Calls that wait for a yes, on a real database, by the real door of connections, to a service that counts them. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { Refusal } from '@lodge/domain';
import { execute } from '@lodge/testkit/postgres';
import { until } from '../../../testkit/src/plane/plane.ts';
import { openTestCalls } from './testing/calls.ts';
import type { TestCalls } from './testing/calls.ts';

let calls: TestCalls;

before(async () => {
  // Long enough to decide on a busy machine, as some tests do while the call waits.
  calls = await openTestCalls({ waitMs: 1_500 });
});
after(() => calls?.close());
beforeEach(async () => {
  calls.gateway.turns.length = 0;
  await execute(calls.world.database.connectionString, 'delete from confirmations');
  calls.calls.length = 0;
  await calls.rule({ rules: [{ on: 'connection:stripe', match: 'POST /refunds*', policy: 'ask' }] });
});

const yes = { decision: 'allow', reason: null, answer: null, remember: 'none' } as const;
const no = { ...yes, decision: 'deny' } as const;
const decide = (id: string, input: Parameters<TestCalls['plane']['confirmations']['decide']>[2] = yes) =>
  calls.plane.confirmations.decide(calls.accountId, id, input);

const asked = async (): Promise<string> => (await calls.asked()).id;

const ended: TestCalls['ended'] = (...given) => calls.ended(...given);

const refusedWith = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

test('a call waits, is shown with its digest, and is sent once by itself after a yes', async () => {
  const sending = calls.send('/refunds?all=1', { headers: { 'x-own': 'mine' }, body: '{"charge":"ch_1"}' });
  const id = await asked();
  const [row] = await calls.list('pending');
  assert.match(row!.shown.action, /^Send POST http:\/\/127\.0\.0\.1:\d+\/v1\/refunds by the connection stripe\.$/);
  for (const words of ['?all=1', 'x-own: mine', '{"charge":"ch_1"}']) assert.ok(row!.shown.quoted!.includes(words));
  assert.match(row!.digest, /^[0-9a-f]{64}$/);
  assert.equal(calls.calls.length, 0);
  await decide(id);
  assert.deepEqual(await sending, { status: 200, text: '{"refunded":true}' });
  await ended(id, 'done');
  const [made, ...more] = calls.calls;
  assert.deepEqual(more, []);
  assert.deepEqual([made!.method, made!.url, made!.body], ['POST', '/v1/refunds?all=1', '{"charge":"ch_1"}']);
  assert.equal(made!.headers.authorization, 'Bearer secret-mark-7Qx9');
  await assert.rejects(decide(id, no), refusedWith('confirmation_closed'));
  assert.deepEqual(calls.told(id), []);
});

test('a no is told with its reason, and nothing is sent', async () => {
  const sending = calls.send('/refunds');
  await decide(await asked(), { ...no, reason: 'Ask Ann.' });
  const { status, text } = await sending;
  assert.equal(status, 403);
  assert.match(text, /"confirmation_denied".*/);
  assert.match(text, /Reason: Ask Ann\./);
  assert.equal(calls.calls.length, 0);
});

test('a late yes is done once by the host, as it was shown, and a turn of the same conversation tells the agent', async () => {
  const body = '{"charge":"ch_2"}';
  const { status, text } = await calls.inTurn('mine', () => calls.send('/refunds', { body }));
  assert.deepEqual([status, /"confirmation_pending"/.test(text)], [403, true]);
  const id = await asked();
  await decide(id);
  await ended(id, 'done');
  await until('the agent is told', () => calls.told(id).length === 1);
  assert.deepEqual(
    calls.calls.map((each) => each.body),
    [body],
  );
  assert.match(calls.told(id)[0]!, /"status":"done".*\n.*Status 200\.[\s\S]*\{"refunded":true\}/);
  assert.equal(calls.gateway.turns.at(-1)!.endpoint.headers['x-toy-session'], 'mine');
  assert.equal((await calls.plane.confirmations.get(calls.accountId, id)).callSealed, null);
});

test('an undecided call expires, and nobody can allow it then', async () => {
  await calls.send('/refunds');
  const id = await asked();
  const { connectionString } = calls.world.database;
  await execute(connectionString, `update confirmations set expires_at = clock_timestamp() where id = '${id}'`);
  await ended(id, 'expired');
  await assert.rejects(decide(id), refusedWith('confirmation_closed'));
  assert.equal(calls.calls.length, 0);
});

test('of many decisions at once one counts, and the call is sent once or never', async () => {
  for (let n = 0; n < 6; n += 1) {
    calls.calls.length = 0;
    const sending = calls.send('/refunds');
    const id = await asked();
    const all = await Promise.allSettled([yes, no, yes, no].map((input) => decide(id, input)));
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
    const { status } = await sending;
    assert.equal(calls.calls.length, status === 200 ? 1 : 0);
  }
});

test('a restricted call is not made in another spelling, by another method, by a redirect or beside its question', async () => {
  await calls.rule({
    rules: [
      { on: 'connection:stripe', match: 'GET /public/*', policy: 'allow' },
      { on: 'connection:stripe', match: '* /guarded', policy: 'deny' },
      { on: 'connection:stripe', match: 'POST /refunds', policy: 'deny' },
      { on: 'connection:stripe', match: 'DELETE *', policy: 'deny' },
    ],
  });
  const spellings = [
    '/refunds',
    '/refunds/',
    '/REFUNDS',
    '/Refunds',
    '/refunds?x=1',
    '/refunds?',
    '/%72efunds',
    '/refund%73',
    '//refunds',
    '/./refunds',
    '/a/../refunds',
    '/refunds;x=1',
    '/refunds%2F',
    '/refunds%20',
    '/ｒefunds',
    '/refunds%00',
  ];
  for (const path of spellings) {
    const { status } = await calls.send(path).catch(() => ({ status: 400 }));
    const reached = calls.calls.filter(({ url }) => url.toLowerCase().startsWith('/v1/refunds')).map(({ url }) => url);
    assert.ok(status === 403 || status === 400 || !/refunds\/?(?:\?|$)/i.test(path), `${path}: ${status}`);
    assert.deepEqual(
      reached.filter((url) => /^\/v1\/refunds\/?(?:\?.*)?$/i.test(url)),
      [],
      path,
    );
  }
  calls.calls.length = 0;
  for (const [path, init] of [
    ['/Guarded', { method: 'GET', body: null }],
    ['/moved', { method: 'GET', body: null }],
    ['/x', { method: 'DELETE', body: null }],
    ['/x', { headers: { 'x-http-method-override': 'DELETE' } }],
    ['/x', { headers: { 'x-original-url': '/v1/refunds' } }],
  ] as const) {
    await calls.send(path, init);
  }
  assert.deepEqual(
    calls.calls.map(({ method, url, headers }) => [
      method,
      url,
      headers['x-http-method-override'] ?? headers['x-original-url'],
    ]),
    [
      ['GET', '/v1/moved', undefined],
      ['POST', '/v1/x', undefined],
      ['POST', '/v1/x', undefined],
    ],
  );
});

test('parallel calls are each their own confirmation, and more than may wait are not lost', async () => {
  const sending = Array.from({ length: 7 }, (_, n) => calls.send('/refunds', { body: `{"n":${n}}` }));
  await until('all are asked', async () => (await calls.list('pending')).length === 7);
  const rows = await calls.list('pending');
  assert.equal(new Set(rows.map(({ digest }) => digest)).size, 7);
  const [one] = rows;
  await decide(one!.id);
  await Promise.all(sending);
  await ended(one!.id, 'done');
  assert.equal(calls.calls.length, 1);
  assert.ok(one!.shown.quoted!.includes(calls.calls[0]!.body));
});

test('a yes is for the call as it was shown: another address, or a connection that is gone, gets nothing', async () => {
  await calls.send('/refunds');
  const id = await asked();
  const row = await calls.connections().find(calls.accountId, calls.agentId, 'stripe');
  const moved = {
    name: 'stripe',
    kind: 'http',
    allow: row.allow,
    headers: {},
    tools: undefined,
    enabled: true,
    auth: undefined,
  } as const;
  const put = (url: string) => calls.connections().put(calls.accountId, calls.agentId, { ...moved, url });
  await put(row.url.replace('/v1', '/v2'));
  await decide(id);
  await ended(id, 'failed');
  await put(row.url);
  assert.equal(calls.calls.length, 0);
  await until('the agent is told', () => calls.told(id).length === 1);
  assert.match(calls.told(id)[0]!, /"status":"failed"/);
});

test('a decision is remembered in its conversation alone, for the same method and path', async () => {
  const send = (conversation: string, path = '/refunds') => calls.inTurn(conversation, () => calls.send(path));
  const sending = send('here');
  await decide(await asked(), { ...yes, remember: 'conversation' });
  assert.equal((await sending).status, 200);
  assert.equal((await send('here')).status, 200);
  assert.equal((await send('elsewhere')).status, 403);
  assert.equal((await send('here', '/refunds/2')).status, 403);
  assert.equal(calls.calls.length, 2);
});

test('a decision becomes a rule before the others', async () => {
  const sending = calls.send('/refunds');
  await decide(await asked(), { ...yes, remember: 'rule' });
  assert.equal((await sending).status, 200);
  const { confirmations } = await calls.plane.agents.get(calls.accountId, calls.agentId);
  assert.deepEqual(confirmations!.rules, [
    { on: 'connection:stripe', match: 'POST /refunds', policy: 'allow' },
    { on: 'connection:stripe', match: 'POST /refunds*', policy: 'ask' },
  ]);
});

test('what is wrong with rules or decisions is refused with the field, and nothing is changed', async () => {
  const set = (changes: Parameters<TestCalls['rule']>[0]) => calls.rule(changes);
  const rule = { on: 'connection:none', match: '*', policy: 'ask' } as const;
  await assert.rejects(set({ rules: [rule] }), /rules\[0\]\.on: the agent has no connection none/);
  await assert.rejects(set({ rules: [{ ...rule, on: 'everything' }] }), /rules\[0\]\.on must be/);
  await assert.rejects(set({ expires: '1m' }), /confirmations\.expires/);
  const deliver = [{ channel: 'telegram', conversation: '1' }] as const;
  await assert.rejects(set({ deliver }), /deliver\[0\]\.conversation is none/);
  await calls.rule({ rules: [{ on: 'connection:stripe', match: '*', policy: 'ask' }] });
  await calls.send('/a*b');
  const id = await asked();
  await assert.rejects(decide(id, { ...yes, remember: 'conversation' }), /no conversation/);
  await assert.rejects(decide(id, { ...yes, remember: 'rule' }), /star/);
  await assert.rejects(decide(id, { ...yes, answer: 'x' }), /answer is for questions/);
  await assert.rejects(decide('q3x8n2v7k1ab'), refusedWith('confirmation_not_found'));
  await assert.rejects(calls.plane.confirmations.decide('acc_other', id, yes), refusedWith('confirmation_not_found'));
  assert.equal((await calls.list('pending')).length, 1);
  assert.equal(calls.calls.length, 0);
});

test('an agent has 50 open ones, and then nothing more is asked', async () => {
  const { connectionString } = calls.world.database;
  await calls.send('/refunds');
  await execute(
    connectionString,
    `insert into confirmations (id, account_id, agent_id, kind, subject, target, digest, shown_sealed, expires_at)
     select 'x' || n, account_id, agent_id, kind, subject, target, digest, shown_sealed, expires_at
     from confirmations, generate_series(1, 49) n`,
  );
  const { status, text } = await calls.send('/refunds');
  assert.deepEqual([status, /"quota_exceeded"/.test(text)], [429, true]);
});

test('nothing of a call is in the clear in the database, and a large one is refused', async () => {
  await calls.send('/refunds', { body: 'a-word-that-is-sealed' });
  await asked();
  const [row] = await execute(
    calls.world.database.connectionString,
    `select (select json_agg(c) from confirmations c)::text || (select json_agg(e.data) from events e)::text as all`,
  );
  const all = JSON.stringify(row);
  for (const mark of [
    'a-word-that-is-sealed',
    Buffer.from('a-word-that-is-sealed').toString('base64'),
    'secret-mark',
  ]) {
    assert.ok(!all.includes(mark), mark);
  }
  assert.ok(!all.includes(hash('sha256', 'secret-mark-7Qx9', 'hex')));
  assert.equal((await calls.send('/refunds', { body: 'x'.repeat(200_000) })).status, 413);
});
