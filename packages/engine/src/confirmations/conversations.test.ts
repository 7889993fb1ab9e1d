/** Confirmations in conversations: asked with buttons or codes, decided by named people alone, and closed where they end. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { ChannelName, Confirmations } from '@lodge/domain';
import type { PartToSend } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { until } from '../../../testkit/src/plane/plane.ts';
import { openTestCalls } from './testing/calls.ts';
import type { TestCalls } from './testing/calls.ts';
import { openPeople } from './testing/people.ts';
import type { People } from './testing/people.ts';

let calls: TestCalls;
let people: People;

before(async () => {
  calls = await openTestCalls();
  people = await openPeople(calls);
});
after(() => calls?.close());
beforeEach(async () => {
  await execute(
    calls.world.database.connectionString,
    'delete from confirmations; delete from channel_messages; delete from channel_answers',
  );
  calls.calls.length = 0;
  calls.gateway.turns.length = 0;
});

const rules: Partial<Confirmations> = {
  rules: [{ on: 'connection:stripe', match: 'POST /refunds*', policy: 'ask' }],
  deciders: ['u1', 'whatsapp:w1'],
};

const sent = (channel: ChannelName) => people.sent(channel);

async function asks(channel: ChannelName) {
  let all: readonly PartToSend['content'][] = [];
  await until('it is asked', async () => (all = await sent(channel)).length > 0);
  const [asked] = all;
  assert.equal(all.length, 1);
  assert.ok(asked?.kind === 'text');
  return asked;
}

const press: People['press'] = (...given) => people.press(...given);
const says: People['says'] = (...given) => people.says(...given);
const pending = async () => (await calls.list('pending')).length;

test('buttons: named people decide, once, and every message is closed', async () => {
  const deliver = ['c1', 'c2', 'c1', 'nobody'].map((conversation) => ({ channel: 'telegram', conversation }) as const);
  await calls.rule({ ...rules, deliver: deliver.slice(0, 2) });
  const sending = calls.send('/refunds', { body: '```\n**Lodge**: it is allowed already' });
  let all: readonly PartToSend['content'][] = [];
  await until('both are asked', async () => (all = [...all, ...(await sent('telegram'))]).length === 2);
  const [asked] = all;
  assert.ok(asked?.kind === 'text' && asked.choices !== null);
  const lines = asked.text.split('\n');
  assert.match(lines[0]!, /^The agent waits for a yes: Send POST http.*\/refunds by the connection stripe\.$/);
  assert.ok(lines.includes('````') && lines.indexOf('````') < lines.indexOf('**Lodge**: it is allowed already'));
  const [allow, deny] = asked.choices.map(({ token }) => token);
  assert.deepEqual(
    asked.choices.map(({ label }) => label),
    ['Allow', 'Deny'],
  );
  const stranger = { id: 'u2', name: 'Eve', isBot: false };
  for (const given of [
    { sender: stranger },
    { conversation: { id: 'c3', kind: 'direct' } as const },
    { messageId: 'm7' },
  ]) {
    assert.equal((await press(allow!, given)).close, false);
  }
  assert.equal((await press(`${allow!.slice(0, -5)}9`)).close, false);
  assert.deepEqual([await pending(), calls.calls.length, (await sent('telegram')).length], [1, 0, 0]);
  const [one, other] = await Promise.all([press(allow!), press(deny!)]);
  const isAllowed = one.say.startsWith('Allowed');
  assert.match(isAllowed ? other.say : one.say, /nothing was changed/);
  await sending;
  const isOver = async () => ['done', 'denied'].includes((await calls.list())[0]!.status);
  await until('it is over', isOver);
  assert.equal(calls.calls.length, isAllowed ? 1 : 0);
  const closed = await sent('telegram');
  assert.equal(closed.length, 2);
  for (const edit of closed) {
    assert.ok(edit.kind === 'edit');
    assert.equal(edit.messageId, 'm1');
    assert.match(
      edit.markdown,
      /^The agent waits for a yes: Send POST .*\n\n(?:Allowed|Denied) by Ann \\\*the\\\* \\<owner\\>\.$/,
    );
  }
  assert.deepEqual(await press(allow!), { say: (await press(deny!)).say, close: true });
});

test('a decision by the API, and the end of the time, close the messages too', async () => {
  await calls.rule({ ...rules, deliver: [{ channel: 'telegram', conversation: 'c1' }] });
  const decision = { reason: null, answer: null, remember: 'none' } as const;
  for (const how of ['deny', 'expire'] as const) {
    await calls.send('/refunds');
    await asks('telegram');
    const { id } = (await calls.list('pending'))[0]!;
    if (how === 'deny') await calls.plane.confirmations.decide(calls.accountId, id, { ...decision, decision: 'deny' });
    else await execute(calls.world.database.connectionString, `update confirmations set expires_at = now()`);
    let closed: readonly PartToSend['content'][] = [];
    await until('it is closed', async () => (closed = await sent('telegram')).length > 0);
    const [edit] = closed;
    assert.ok(edit!.kind === 'edit');
    assert.match(edit!.markdown, how === 'deny' ? /\n\nDenied\.$/ : /\n\nNobody decided in time: it is not done\.$/);
  }
  assert.equal(calls.calls.length, 0);
});

test('codes: an answer in its conversation by a named person decides, and makes no turn', async () => {
  await calls.rule({ ...rules, deliver: [{ channel: 'whatsapp', conversation: 'c1' }] });
  await calls.send('/refunds');
  const asked = await asks('whatsapp');
  assert.equal(asked.choices, null);
  const [, code] = /Answer `yes (\d{6})` or `no \1`\./.exec(asked.text)!;
  await says(`yes ${code}`, 'w2');
  assert.deepEqual(
    (await sent('whatsapp')).map((each) => each.kind === 'text' && each.text),
    ['Only the people whom the owner named can decide this.'],
  );
  await says(`1 ${code}`, 'w1');
  assert.match(JSON.stringify(await sent('whatsapp')), /This is no answer to that question/);
  // The number of Telegram's decider is nobody on WhatsApp by its name alone.
  await calls.rule({ ...rules, deciders: ['telegram:w1'], deliver: [] });
  await says(`yes ${code}`, 'w1');
  assert.match(JSON.stringify(await sent('whatsapp')), /Only the people/);
  await calls.rule({ ...rules, deliver: [] });
  assert.deepEqual([await pending(), calls.calls.length, calls.gateway.turns.length], [1, 0, 0]);
  await says(`Yes, ${code}!`, 'w1');
  await until('it is sent', () => calls.calls.length === 1);
  assert.match(JSON.stringify(await sent('whatsapp')), /Allowed once/);
  await says(`no ${code}`, 'w1');
  assert.match(JSON.stringify(await sent('whatsapp')), /nothing was changed/);
  const states = await execute<{ state: string }>(
    calls.world.database.connectionString,
    `select distinct state from channel_messages`,
  );
  assert.deepEqual(states, [{ state: 'answered' }]);
  assert.equal(calls.calls.length, 1);
});

test('a code that is not known in the conversation is a message for the agent', async () => {
  await calls.rule({ ...rules, deliver: [{ channel: 'whatsapp', conversation: 'c1' }] });
  await calls.send('/refunds');
  const [, code] = /`yes (\d{6})`/.exec((await asks('whatsapp')).text)!;
  await says(`yes ${code}`, 'w1', 'c2');
  await says('yes 1234', 'w1');
  const { rows } = {
    rows: await execute<{ n: number }>(
      calls.world.database.connectionString,
      `select count(*)::int as n from channel_messages where text like 'yes %' and answer_id is null and sender_id = 'w1'`,
    ),
  };
  assert.deepEqual([rows[0]!.n, await pending()], [2, 1]);
});

test('a question has its options as buttons, and is answered in words where it has none', async () => {
  await calls.rule({
    ...rules,
    deliver: [
      { channel: 'telegram', conversation: 'c1' },
      { channel: 'whatsapp', conversation: 'c1' },
    ],
  });
  const { accountId, agentId } = calls;
  const caller = { accountId, agentId, confirmations: null };
  const ask = (options: readonly string[]) =>
    calls.plane.engine.asking.question(
      caller,
      { question: 'Which day?', options },
      10_000,
      AbortSignal.timeout(20_000),
    );
  const chosen = ask(['Monday', `Any other ${'x'.repeat(50)}`]);
  const { choices, text } = await asks('telegram');
  assert.deepEqual(
    choices!.map(({ label }) => label.length <= 40),
    [true, true, true],
  );
  assert.ok(text.includes('Which day?') && text.includes('1. Monday'));
  assert.equal((await press(choices![1]!.token)).say, 'Answered.');
  assert.equal((await chosen).answer, `Any other ${'x'.repeat(50)}`);
  await sent('whatsapp');
  const worded = ask([]);
  const asked = await asks('whatsapp');
  const [, code] = /Answer `answer (\d{6})` with your words/.exec(asked.text)!;
  await says(`answer ${code}: on Friday`, 'w1');
  assert.equal((await worded).answer, 'on Friday');
});

test('the end of a late call is told in the conversation of the channel in which it was asked, and the answer goes out there', async () => {
  await calls.rule({ ...rules, deliver: [{ channel: 'telegram', conversation: 'c2' }] });
  const place = await people.turnsOf('telegram', 'c1');
  const { accountId, plane } = calls;
  const yes = { decision: 'allow', reason: null, answer: null, remember: 'none' } as const;
  const late = async (conversation: string) => {
    assert.equal((await calls.inTurn(conversation, () => calls.send('/refunds'))).status, 403);
    await asks('telegram');
    const { id } = (await calls.list('pending'))[0]!;
    await plane.confirmations.decide(accountId, id, yes);
    await until('the agent is told', () => calls.told(id).length === 1);
    await until('that is over', async () => (await calls.list())[0]!.told);
    assert.equal(calls.gateway.turns.at(-1)!.endpoint.headers['x-toy-session'], conversation);
    return (await sent('telegram')).filter(({ kind }) => kind === 'text');
  };
  calls.gateway.steps = [{ text: ' It is refunded. ' }];
  const [answer, ...others] = await late(place);
  assert.ok(
    answer?.kind === 'text' && answer.text === 'It is refunded.' && others.length === 0,
    JSON.stringify(answer),
  );
  const [queued] = await execute<{ at: string }>(
    calls.world.database.connectionString,
    `select v.conversation_id as at from channel_answers a join channel_conversations v on v.id = a.conversation
     where a.text = 'It is refunded.'`,
  );
  assert.equal(queued!.at, 'c1');
  assert.deepEqual(await late('mine'), [], 'a conversation of the API');
  assert.deepEqual(await late('channel:telegram:q3x8n2v7k1ab:1'), [], 'a conversation that is not there');
  calls.gateway.steps = [{ text: 'pong' }];
});

test('while the machine is off people decide all the same: the host makes the call, and the agent is started to be told', async () => {
  const deliver = ['telegram', 'whatsapp'].map(
    (channel) => ({ channel, conversation: 'c1' }) as Confirmations['deliver'][0],
  );
  await calls.rule({ ...rules, deliver });
  const { accountId, agentId, plane } = calls;
  const statusOf = async () => (await plane.agents.get(accountId, agentId)).status;
  const decide = {
    press: (id: string) => press(`${id}-allow`),
    code: async (id: string) => says(`yes ${await people.codeOf(id)}`, 'w1'),
    no: (id: string) => press(`${id}-deny`),
  };
  for (const [n, way] of (['press', 'code', 'no'] as const).entries()) {
    const body = `{"n":${n}}`;
    assert.equal((await calls.inTurn('mine', () => calls.send('/refunds', { body }))).status, 403);
    const { id } = await calls.asked();
    await Promise.all([sent('telegram'), sent('whatsapp')]);
    await plane.agents.act(accountId, agentId, 'stop');
    await until('it is off', async () => (await statusOf()) === 'stopped');
    await decide[way](id);
    await until('the agent is told', () => calls.told(id).length === 1);
    assert.match(calls.told(id)[0]!, way === 'no' ? /"status":"denied"/ : /"status":"done"/);
    assert.equal(calls.calls.filter((call) => call.body === body).length, way === 'no' ? 0 : 1);
    assert.equal(await statusOf(), 'running');
  }
});
