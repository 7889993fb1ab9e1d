/** Agents use their tools on a real database, a real guest daemon and a fake host; scripts stand in for their models. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { dialTo, guestClient } from '@lodge/guest';
import type { LlmCall, OpenCall, ToolSource } from '@lodge/ports';
import { createGuestFiles } from '@lodge/runtimes';
import { FakeHost } from '@lodge/vm/fake';
import { Daemon } from '../../../../apps/guestd/src/testing.ts';
import { MemoryFiles } from '../../../testkit/src/plane/channels.ts';
import { never, running, silent, startPlane, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../testkit/src/plane/plane.ts';
import { openAccess, RelayHand } from '../../../testkit/src/plane/relay-hand.ts';
import { ScriptedGateway } from '../../../testkit/src/plane/scripted-gateway.ts';
import { createToyRuntime } from '../../../testkit/src/plane/toy-runtime/toy-runtime.ts';
import { message } from '../turns/run-turn.ts';
import { createAgentTools } from './agent-tools.ts';
import type { AgentTools } from './agent-tools.ts';

const gateway = new ScriptedGateway();
const files = new MemoryFiles();
const guest = new Daemon();
const guestFiles = createGuestFiles(() =>
  guestClient({ dial: dialTo('127.0.0.1'), port: guest.port, credential: () => Promise.resolve(null) }),
);
const source: ToolSource = {
  tools: async () =>
    ['search', 'send_message'].map((name) => ({ name, description: 'Theirs.', inputSchema: { type: 'object' } })),
  call: async (_agent, name) =>
    name === 'search' ? { content: [{ type: 'text', text: 'found' }], isError: false } : null,
};

let world: World;
let plane: Plane;
let tools: AgentTools;
/** Agents by the names of their models. */
const agents: Record<'a' | 'b' | 'c' | 'd', { readonly id: string }> = {} as never;
let relay: RelayHand;

before(async () => {
  world = await World.open();
  await guest.prepare();
  await guest.start();
  plane = await startPlane(world, new FakeHost(), {
    gateway,
    runtimes: new Map([['runtime_a', createToyRuntime(1)]]),
    channels: { files, guestFiles },
    schedules: {},
    work: { lookEveryMs: 50 },
  });
  for (const name of ['a', 'b', 'c', 'd'] as const) {
    agents[name] = await running(world, plane, { name, model: `p/${name}`, ...(name !== 'd' && { peers: ['*'] }) });
  }
  relay = await RelayHand.of(world.store, world.accountId, agents.a.id);
});
after(async () => {
  await plane?.end();
  await guest.remove();
  await world?.close();
});
beforeEach(() => {
  gateway.scripts.clear();
  gateway.turns.length = 0;
  tools = createAgentTools({
    dashboardUrl: 'https://lodge.example',
    ...world.store,
    agents: plane.agents,
    runTurn: plane.engine.runTurn,
    askedTurns: (id) => plane.engine.askedTurns(id),
    files,
    guestFiles,
    schedules: plane.schedules,
    sources: [source],
    log: silent,
  });
});

type Name = keyof typeof agents;

/** A result as each tool's own test knows it. */
type Result = Readonly<Record<string, any>>;

/** Returns the tool's result, or the sentence that says what went wrong. */
async function use(name: Name, tool: string, args: object = {}) {
  const caller = { agentId: agents[name].id, accountId: world.accountId, confirmations: null };
  const answer = await tools.call(caller, tool, args as Record<string, unknown>, never);
  const [{ text }] = answer!.content as unknown as [{ readonly text: string }];
  return answer!.isError ? text : (JSON.parse(text) as Result);
}

/** Returns the sentence that says what went wrong. */
async function refusalOf(result: ReturnType<typeof use>): Promise<string> {
  const said = await result;
  return typeof said === 'string' ? said : assert.fail('it did not refuse');
}

/** Sends the agent a message. */
async function say(name: Name, text = 'go'): Promise<string> {
  const answer = await plane.engine.runTurn({
    agentId: agents[name].id,
    accountId: world.accountId,
    member: null,
    conversation: null,
    origin: 'api',
    said: message(text),
    wake: false,
    wakeTimeoutMs: 10_000,
    timeoutMs: 20_000,
    signal: never,
  });
  return answer.text();
}

const ask = (from: Name, to: Name) => use(from, 'ask_agent', { agent: agents[to].id, message: 'what now?' });
const spoken = async (result: ReturnType<typeof ask>): Promise<string> => {
  const answer = await result;
  return typeof answer === 'string' ? `refused: ${answer}` : `said: ${String(answer['answer'])}`;
};

test('channels and conversations are listed that access allows now, with titles marked as text of strangers', async () => {
  await relay.write('hello');
  await relay.write('all', { conversation: 'g1', kind: 'group' });
  await relay.answer();
  const { channels } = (await use('a', 'channels_list')) as Result;
  assert.deepEqual(
    channels.map(({ channel }: Result) => channel),
    ['telegram'],
  );
  const listed = channels[0].conversations as Result[];
  assert.deepEqual(
    listed.map(({ id, kind, untrusted_title }) => [id, kind, untrusted_title]).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [
      ['c1', 'direct', undefined],
      ['g1', 'group', 'The team'],
    ],
  );
  assert.deepEqual(((await use('b', 'channels_list')) as Result)['channels'], []);
});

test('a message and a file are queued, and sent', async () => {
  const to = { channel: 'telegram', conversation: 'c1' };
  await relay.sendAll();
  const queued = (await use('a', 'send_message', { ...to, text: 'It is time.' })) as Record<string, string>;
  assert.equal(queued['status'], 'queued');
  assert.match(queued['message_id']!, /^[\w-]{10,}$/);
  assert.deepEqual(await relay.answer(), ['It is time.']);
  mkdirSync(join(guest.root, 'workspace/out'), { recursive: true });
  writeFileSync(join(guest.root, 'workspace/out/report.txt'), 'figures');
  await use('a', 'send_file', { ...to, path: '/workspace/out/report.txt', text: 'Here it is.' });
  assert.deepEqual((await relay.answer()).toSorted(), ['Here it is.', 'file report.txt']);
});

test('nothing goes where no access is, nor what is no file of the workspace', async () => {
  const to = { channel: 'telegram', conversation: 'c1' };
  const text = 'x';
  const kept = files.kept.size;
  assert.match(await refusalOf(use('a', 'send_message', { ...to, conversation: 'c9', text })), /^conversation is none/);
  // Another agent's conversation.
  assert.match(await refusalOf(use('b', 'send_message', { ...to, text })), /^conversation is none/);
  for (const path of ['/etc/passwd', '/workspace/../etc/passwd', '/workspace/', 'report.txt']) {
    assert.match(await refusalOf(use('a', 'send_file', { ...to, path })), /^path must be/, path);
  }
  assert.match(await refusalOf(use('a', 'send_file', { ...to, path: '/workspace/none.txt' })), /not there/);
  const access = { ...openAccess, mode: 'disabled' } as const;
  const { accountId } = world;
  const channel = { accountId, agentId: agents.a.id, channel: 'telegram', enabled: true, credentials: [] } as const;
  await world.store.channels.put({ ...channel, access });
  for (const tool of ['send_message', 'send_file']) {
    const given = tool === 'send_message' ? { text } : { path: '/workspace/out/report.txt' };
    assert.match(await refusalOf(use('a', tool, { ...to, ...given })), /access lets in nobody/);
  }
  await world.store.channels.put({ ...channel, access: openAccess });
  assert.equal(files.kept.size, kept);
});

test('arguments that are no arguments are told by name, in one sentence', async () => {
  const good = { channel: 'telegram', conversation: 'c1', text: 'x' };
  const wrong: [object, RegExp][] = [
    [{}, /^channel is missing\.$/],
    [{ ...good, channel: 'fax' }, /^channel must be one of slack, /],
    [{ ...good, channel: ['telegram'] }, /^channel must be a text\.$/],
    [{ ...good, conversation: 'x'.repeat(513) }, /^conversation must have at most 512 characters\.$/],
    [{ ...good, text: ' \n' }, /^text must not be blank\.$/],
    [{ ...good, text: 'x'.repeat(64 * 1024 + 1) }, /^text must have at most 65536/],
    [{ ...good, text: 'a\0b' }, /^text has characters/],
    [{ ...good, text: '\ud800' }, /^text has characters/],
    [{ ...good, agent_id: agents.b.id }, /^"agent_id" is not a known argument\.$/],
    [JSON.parse('{"__proto__": {"channel": "telegram"}}'), /^"__proto__" is not a known argument\.$/],
    [{ constructor: 1 }, /^"constructor" is not a known argument\.$/],
  ];
  for (const [args, sentence] of wrong) assert.match(await refusalOf(use('a', 'send_message', args)), sentence);
  const caller = { agentId: agents.a.id, accountId: world.accountId, confirmations: null };
  for (const name of ['constructor', '__proto__', 'schedule_destroy', '']) {
    assert.equal(await tools.call(caller, name, {}, never), null, name);
  }
});

test('so many messages a minute, and then a clear error', async () => {
  const call = () => use('a', 'send_message', { channel: 'telegram', conversation: 'c1', text: 'x' });
  for (let n = 0; n < 20; n += 1) assert.equal(typeof (await call()), 'object');
  assert.match(await refusalOf(call()), /^send_message was called too often/);
  assert.match(
    await refusalOf(use('b', 'send_message', { channel: 'telegram', conversation: 'c1', text: 'x' })),
    /^conver/,
  );
});

test('an agent asks those that its owner allows, in a turn of its own conversation', async () => {
  gateway.scripts.set('a', () => spoken(ask('a', 'b')));
  gateway.scripts.set('b', async (said) => `heard ${said.split('\n').at(-1)}`);
  assert.equal(await say('a'), 'said: heard what now?');
  const { endpoint, body } = gateway.turns[1]!;
  assert.equal(endpoint.headers['x-toy-session'], `agent:${agents.a.id}`);
  assert.match(JSON.stringify(body), new RegExp(`agent message .*from_agent.*${agents.a.id}`));
  const { agents: listed } = (await use('a', 'agents_list')) as Result;
  assert.deepEqual(listed.map(({ name }: Result) => name).toSorted(), ['b', 'c', 'd']);
  assert.deepEqual(((await use('d', 'agents_list')) as Result)['agents'], []);
});

test('whom it may not ask is refused alike: nobody, itself, no peer, another account', async () => {
  const none = 'refused: agent is none that you may ask; agents_list has those.';
  for (const agent of ['zzzzzzzzzzzz', '*', '../x', agents.a.id]) {
    gateway.scripts.set('a', () => spoken(use('a', 'ask_agent', { agent, message: 'x' })));
    assert.equal(await say('a'), none, agent);
  }
  gateway.scripts.set('d', () => spoken(ask('d', 'a')));
  assert.equal(await say('d'), none);
  const stranger = { agentId: agents.a.id, accountId: randomUUID(), confirmations: null };
  const answer = await tools.call(stranger, 'ask_agent', { agent: agents.b.id, message: 'x' }, never);
  assert.equal(answer!.isError, true);
});

test('outside of a turn nobody is asked: a chain could begin anew there', async () => {
  assert.match(await refusalOf(ask('a', 'b')), /works only while you answer/);
});

test('two agents that ask each other come to an end, and so does a long chain', async () => {
  gateway.scripts.set('a', () => spoken(ask('a', 'b')));
  gateway.scripts.set('b', () => spoken(ask('b', 'a')));
  assert.match(await say('a'), /^said: refused: agent waits for an answer in this chain/);
  assert.equal(gateway.turns.length, 2);
  gateway.scripts.set('b', () => spoken(ask('b', 'c')));
  gateway.scripts.set('c', () => spoken(ask('c', 'd')));
  assert.equal(await say('a'), 'said: said: refused: A question is passed on to 2 agents at most.');
});

const openCall = (agentId: string): OpenCall => ({
  id: randomUUID(),
  agentId,
  accountId: world.accountId,
  provider: 'p',
  model: 'm',
  api: 'openai-completions',
  startedAt: new Date(),
  digest: randomUUID(),
  estimate: { inputTokens: 1, outputTokens: 1, costUsd: '0.5' },
});

/** Makes a model call of the agent, as the broker does. */
async function callModel(name: Name, costUsd = '0.25') {
  const ledger = plane.engine.watchCalls(world.store.ledgerOf('test'));
  const { digest: _digest, estimate: _estimate, ...call } = openCall(agents[name].id);
  const refusal = await ledger.open({ ...openCall(agents[name].id), id: call.id });
  if (refusal) throw new Error(refusal.code);
  const tokens = { inputTokens: 1, outputTokens: 1, cacheReadTokens: null, cacheWriteTokens: null };
  const more = { cacheWriteLongTokens: null, reasoningTokens: null, imageTokens: null };
  const facts = { durationMs: 1, timeToFirstByteMs: 1, status: 200, outcome: 'ok', estimated: false } as const;
  await ledger.close({ ...call, ...tokens, ...more, ...facts, costUsd, priceVersion: 'v' } satisfies LlmCall);
}

test('what a question costs is spent by who asked first, down the chain', async () => {
  const spent = async (name: Name) => ((await use(name, 'usage_now')) as Record<string, string>)['spent_today_usd'];
  gateway.scripts.set('a', () => spoken(ask('a', 'b')));
  gateway.scripts.set('b', async () => {
    await callModel('b');
    return spoken(ask('b', 'c'));
  });
  gateway.scripts.set('c', async () => {
    await callModel('c');
    return 'done';
  });
  assert.equal(await say('a'), 'said: said: done');
  assert.deepEqual([await spent('a'), await spent('b'), await spent('c')], ['0.5', '0', '0']);
  await callModel('b');
  assert.equal(await spent('b'), '0.25', 'its own doings are its own');
});

test('who has spent its limit asks nobody any more, and is told what is left', async () => {
  const spendLimit = { dailyUsd: '0.75', monthlyUsd: null, action: 'block' } as const;
  await plane.agents.update(world.accountId, agents.a.id, { spendLimit });
  const left = async () => {
    const { limits } = (await use('a', 'usage_now')) as Result;
    return limits.map(({ of, period, limit_usd, left_usd }: Result) => [of, period, limit_usd, left_usd]);
  };
  assert.deepEqual(await left(), [['agent', 'day', '0.75', '0.25']]);
  gateway.scripts.set('a', () => spoken(ask('a', 'b')));
  gateway.scripts.set('b', async () => {
    await callModel('b', '0.3');
    return 'done';
  });
  assert.equal(await say('a'), 'said: done');
  assert.deepEqual(await left(), [['agent', 'day', '0.75', '0']]);
  assert.match(await say('a'), /^refused: The agent's spend limit of \$0\.75 a day is reached/);
});

const ours =
  'channels_list send_message send_file agents_list ask_agent usage_now schedule_create schedule_list schedule_delete'.split(
    ' ',
  );

test('tools of further sources are listed behind, and called, but never in the place of ours', async () => {
  const caller = { agentId: agents.a.id, accountId: world.accountId, confirmations: null };
  const listed = await tools.list(caller, never);
  assert.deepEqual(
    listed.map(({ name }) => name),
    [...ours, 'search'],
  );
  assert.ok(listed.every(({ name, description }) => name === 'search' || description !== 'Theirs.'));
  const answer = await tools.call(caller, 'search', {}, never);
  assert.deepEqual(answer!.content, [{ type: 'text', text: 'found' }]);
});

test('peers are agents of the account, and no agent is its own', async () => {
  const set = (peers: readonly string[]) => plane.agents.update(world.accountId, agents.d.id, { peers });
  await assert.rejects(set(['*', 'zzzzzzzzzzzz']), {
    code: 'invalid_request',
    message: /^peers\[1\] is no other agent/,
  });
  await assert.rejects(set([agents.d.id]), { code: 'invalid_request', message: /^peers\[0\] is no other agent/ });
  assert.deepEqual((await set([agents.a.id, agents.a.id])).peers, [agents.a.id]);
});

test('asked in a chat to remind somebody, an agent makes a schedule, and the reminder arrives in the chat', async () => {
  const chat = await RelayHand.of(world.store, world.accountId, agents.c.id);
  gateway.scripts.set('c', async (said) => {
    if (said.startsWith('[scheduled run ')) return `Reminder: ${said.split('\n').at(-1)}`;
    const { channels } = (await use('c', 'channels_list')) as Result;
    const [{ id: conversation }] = channels[0].conversations;
    const at = new Date(Date.now() + 1_500).toISOString();
    const made = await use('c', 'schedule_create', {
      name: 'tea',
      prompt: 'tea',
      at,
      channel: 'telegram',
      conversation,
    });
    return typeof made === 'string' ? made : `I will, at ${made['at']}.`;
  });
  await chat.write('remind me of the tea', { conversation: 'c5' });
  assert.match((await chat.answer()).join(), /^I will, at 20/);
  assert.deepEqual(await chat.answer(), ['Reminder: tea']);
});

test('an agent that makes and deletes schedules without end is told to wait', async () => {
  let made = 0;
  for (let n = 0; n < 40; n += 1) {
    const answer = await use('d', 'schedule_create', { name: 'n', prompt: 'p', in_minutes: 10 });
    if (typeof answer === 'string') continue;
    made += 1;
    await use('d', 'schedule_delete', { id: answer['id'] });
  }
  assert.ok(made >= 20 && made < 25, `${made} of 40`);
  const again = use('d', 'schedule_create', { name: 'n', prompt: 'p', in_minutes: 10 });
  assert.match(await refusalOf(again), /^schedule_create was called too often/);
});

test('schedules are made, listed and deleted; wrong times and conversations are told', async () => {
  const given = { name: 'n', prompt: 'p' };
  const soon = (await use('b', 'schedule_create', { ...given, in_minutes: 10 })) as Result;
  const inMs = Date.parse(soon['next_run_at']) - Date.now();
  assert.ok(inMs > 9 * 60_000 && inMs <= 10 * 60_000);
  await use('b', 'schedule_create', { ...given, cron: '0 9 * * 1-5', time_zone: 'Europe/Berlin' });
  const { schedules } = (await use('b', 'schedule_list')) as Result;
  assert.deepEqual(
    schedules.map(({ cron }: Result) => cron),
    [undefined, '0 9 * * 1-5'],
  );
  assert.deepEqual(await use('b', 'schedule_delete', { id: soon['id'] }), { id: soon['id'], deleted: true });
  assert.match(await refusalOf(use('b', 'schedule_delete', { id: soon['id'] })), /no such schedule/);
  assert.match(await refusalOf(use('a', 'schedule_delete', { id: schedules[1].id })), /no such schedule/);
  const wrong: [object, RegExp][] = [
    [{}, /^Exactly one of/],
    [{ in_minutes: 1, every: '1h' }, /^Exactly one of/],
    [{ in_minutes: 0 }, /^in_minutes must be a whole number from 1/],
    [{ in_minutes: '10' }, /^in_minutes must be a whole number/],
    [{ at: '2027-01-31 12:00' }, /^at must be a time such as/],
    [{ at: '2020-01-31T12:00:00Z' }, /^at is in the past/],
    [{ every: '5 minutes' }, /^every must be/],
    [{ cron: 'often' }, /^cron /],
    [{ cron: '* * * * *', time_zone: 'Mars/Olympus' }, /^time_zone must be/],
    [{ in_minutes: 1, channel: 'telegram' }, /^channel and conversation go together/],
    [{ in_minutes: 1, channel: 'telegram', conversation: 'c1' }, /conversation/],
  ];
  for (const [times, sentence] of wrong) {
    assert.match(await refusalOf(use('b', 'schedule_create', { ...given, ...times })), sentence);
  }
});
