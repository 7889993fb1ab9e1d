/** Attempts to get round a rule that asks: forged answers, other spellings, other arguments, calls beside the asked one. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import type { Press } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { startMcpServer } from '../../../connections/src/testing/mcp-server.ts';
import { never } from '../../../testkit/src/plane/plane.ts';
import { openTestCalls } from './testing/calls.ts';
import type { TestCalls } from './testing/calls.ts';
import { openPeople } from './testing/people.ts';
import type { People } from './testing/people.ts';

const token = 'mark-7Qx9-Zt4Lw2Rk8Vb';
let calls: TestCalls;
let people: People;
let server: Awaited<ReturnType<typeof startMcpServer>>;
const paid: unknown[] = [];
const pay = {
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object' },
  answer: (args: unknown) => {
    paid.push(args);
    return { content: [{ type: 'text', text: 'It is paid.' }] };
  },
};

before(async () => {
  calls = await openTestCalls({ waitMs: 1 });
  people = await openPeople(calls);
  server = await startMcpServer({ token, tools: () => [pay] });
  const bank = { name: 'bank', kind: 'mcp', allow: [], tools: undefined, enabled: true, auth: undefined } as const;
  const headers = { Authorization: `Bearer ${token}` };
  await calls.connections().put(calls.accountId, calls.agentId, { ...bank, url: server.url, headers });
  await calls.rule({
    rules: [
      { on: 'connection:stripe', match: 'POST /refunds*', policy: 'ask' },
      { on: 'connection:bank', match: 'pay', policy: 'ask' },
      { on: 'messages', match: '*', policy: 'ask' },
      { on: 'schedules', match: '*', policy: 'ask' },
    ],
    deciders: ['u1', 'whatsapp:w1'],
    deliver: [
      { channel: 'telegram', conversation: 'c1' },
      { channel: 'whatsapp', conversation: 'c1' },
    ],
  });
});
after(async () => {
  await server?.close();
  await calls?.close();
});
beforeEach(async () => {
  await execute(
    calls.world.database.connectionString,
    'delete from confirmations; delete from channel_messages; delete from channel_answers',
  );
  calls.calls.length = 0;
  paid.length = 0;
});

/** A call that nobody has decided about, in front of people. */
async function open(path = '/refunds'): Promise<string> {
  assert.equal((await calls.send(path)).status, 403);
  const { id } = await calls.asked();
  await people.sent('telegram');
  await people.sent('whatsapp');
  return id;
}

/** Sends a request as it is written. */
async function raw(path: string): Promise<number> {
  const sending = request(calls.doorUrl, { method: 'POST', path }).end('{}');
  const [answer] = (await once(sending, 'response')) as [import('node:http').IncomingMessage];
  answer.resume();
  return answer.statusCode!;
}

const pressed = (given: Partial<Press>, of = (id: string) => `${id}-allow`) =>
  [async (id: string) => void (await people.press(of(id), given))] as const;
const coded = (of: (code: string) => string, sender = 'w1', conversation = 'c1') =>
  [async (id: string) => people.says(of(await people.codeOf(id)), sender, conversation)] as const;
const another = (code: string): string => String(((Number(code) - 99_999) % 900_000) + 100_000);
const wide = (code: string): string =>
  Array.from(code, (digit) => String.fromCodePoint(0xff10 + Number(digit))).join('');
const yes = { decision: 'allow', reason: null, answer: null, remember: 'none' } as const;

const forged: Readonly<Record<string, readonly [(id: string) => Promise<unknown>]>> = {
  'a press by somebody with the name of a decider': pressed({ sender: { id: 'u2', name: 'Ann', isBot: false } }),
  'a press by a bot with the id of a decider': pressed({ sender: { id: 'u1', name: 'Ann', isBot: true } }),
  'a press by the decider of another channel': pressed({ sender: { id: 'w1', name: 'Ann', isBot: false } }),
  'a press in another conversation': pressed({ conversation: { id: 'c2', kind: 'direct' } }),
  'a press below a forwarded message': pressed({ messageId: 'm2' }),
  'a press of a choice in capitals': pressed({}, (id) => `${id}-ALLOW`),
  'a press of a choice that calls do not have': pressed({}, (id) => `${id}-1`),
  'a press of a choice with more behind it': pressed({}, (id) => `${id}-allow-`),
  'a press of a choice of another confirmation': pressed({}, () => 'q3x8n2v7k1ab-allow'),
  'a code by a stranger': coded((code) => `yes ${code}`, 'w2'),
  'a code by the decider of another channel': coded((code) => `yes ${code}`, 'telegram:u1'),
  'a code in another conversation': coded((code) => `yes ${code}`, 'w1', 'c2'),
  'another code': coded((code) => `yes ${another(code)}`),
  'a code in other digits': coded((code) => `yes ${wide(code)}`),
  'a code behind other words': coded((code) => `Please answer: yes ${code}`),
  'a code with a digit more': coded((code) => `yes ${code}0`),
  'an option where there is none': coded((code) => `1 ${code}`),
  'a decision of another account': [
    (id) => assert.rejects(calls.plane.confirmations.decide('acc_other', id, yes), { code: 'confirmation_not_found' }),
  ],
  'a decision in a message to another agent': [
    (id) =>
      assert.rejects(
        calls.plane.engine.decideInTurn(
          { accountId: calls.accountId, agentId: 'q3x8n2v7k1ab', note: {} as never, signal: never },
          [{ id, isAllowed: true, words: null }],
        ),
        { code: 'confirmation_not_found' },
      ),
  ],
};

for (const [name, [attempt]] of Object.entries(forged)) {
  test(`${name} decides nothing`, async () => {
    const id = await open();
    await attempt(id);
    const { status, decision } = await calls.plane.confirmations.get(calls.accountId, id);
    assert.deepEqual([status, decision, calls.calls], ['pending', null, []]);
  });
}

test('a name of a connection or a tool in another spelling reaches nothing, or is asked about', async () => {
  for (const path of [
    '/connections/Stripe/refunds',
    '/connections/stripe%2Frefunds',
    '/connections//stripe/refunds',
    '/connections/./stripe/refunds',
    '/connections/x/../stripe/refunds',
    '/connections/stripe/../stripe/refunds',
    '/connections/stripe/x/..%2Frefunds',
    '/connections/stripe\\refunds',
    '//connections/stripe/refunds',
    'http://elsewhere.test/connections/stripe/refunds',
  ]) {
    assert.ok((await raw(path)) >= 400, path);
  }
  const { agentId, accountId } = calls;
  for (const tool of ['bank__PAY', 'bank__pay ', 'bank__pay/', 'BANK__pay', 'Send_Message', 'schedule_create ']) {
    await calls.use(tool, { cents: 1 }).catch(() => undefined);
  }
  assert.deepEqual([calls.calls, paid], [[], []]);
  assert.deepEqual(await calls.plane.schedules.list(accountId, agentId), []);
});

test('a yes is for one call: not for the same one again, another body, or one that waited beside it', async () => {
  const id = await open();
  assert.equal((await calls.send('/refunds', { body: '{"a":2}' })).status, 403);
  await calls.plane.confirmations.decide(calls.accountId, id, yes);
  await calls.ended(id, 'done');
  for (const body of ['{"a":1}', '{"a":2}', '{"a":1} ']) {
    assert.equal((await calls.send('/refunds', { body })).status, 403, body);
  }
  assert.deepEqual(
    calls.calls.map(({ body }) => body),
    ['{"a":1}'],
  );
  await calls.use('bank__pay', { cents: 1 });
  const payment = (await calls.list('pending'))[0]!;
  await calls.plane.confirmations.decide(calls.accountId, payment.id, yes);
  await calls.ended(payment.id, 'done');
  await calls.use('bank__pay', { cents: 100 });
  await calls.use('bank__pay', { cents: 1 });
  assert.deepEqual(paid, [{ cents: 1 }]);
});

test('after a no the same call is asked about again, in each spelling, and not sent', async () => {
  await calls.plane.confirmations.decide(calls.accountId, await open(), { ...yes, decision: 'deny' });
  for (const path of ['/refunds', '/refunds/', '/REFUNDS', '/refunds?again=1', '/refunds/1']) {
    assert.equal((await calls.send(path)).status, 403, path);
  }
  assert.deepEqual([calls.calls, (await calls.list('pending')).length], [[], 5]);
});
