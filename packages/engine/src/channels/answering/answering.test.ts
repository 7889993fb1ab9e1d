/** Messages are answered on a real database and a fake host; the test does the relay's part by hand. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { dialTo, guestClient } from '@lodge/guest';
import type { AgentRow } from '@lodge/store/agents';
import { createGuestFiles } from '@lodge/runtimes';
import { execute } from '@lodge/testkit/postgres';
import { FakeHost } from '@lodge/vm/fake';
import { Daemon } from '../../../../../apps/guestd/src/testing.ts';
import { MemoryFiles } from '../../../../testkit/src/plane/channels.ts';
import { FakeGateway } from '../../../../testkit/src/plane/fake-gateway.ts';
import { input, never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../../testkit/src/plane/plane.ts';
import { RelayHand } from '../../../../testkit/src/plane/relay-hand.ts';
import { createToyRuntime } from '../../../../testkit/src/plane/toy-runtime/toy-runtime.ts';

const gateway = new FakeGateway();
const files = new MemoryFiles();
const guest = new Daemon();
const guestFiles = createGuestFiles(() =>
  guestClient({ dial: dialTo('127.0.0.1'), port: guest.port, credential: () => Promise.resolve(null) }),
);
const bounds = { lookEveryMs: 50, leaseMs: 1_500, drainMs: 50, tellEveryMs: 50, waitsMs: [50, 50, 50] };
const host = new FakeHost();

let world: World;
let plane: Plane;
let agent: AgentRow;
let relay: RelayHand;

const plain = () =>
  startPlane(world, host, {
    gateway,
    runtimes: new Map([['runtime_a', createToyRuntime(1)]]),
    channels: { files, guestFiles, bounds },
  });

before(async () => {
  world = await World.open();
  await guest.prepare();
  await guest.start();
  plane = await plain();
  agent = await running(world, plane);
  relay = await RelayHand.of(world.store, world.accountId, agent.id);
});
after(async () => {
  await plane?.end();
  await guest.remove();
  await world?.close();
});
beforeEach(() => {
  gateway.turns.length = 0;
  gateway.steps = [{ text: 'pong' }];
  gateway.refusal = null;
});

const said = (turn = 0): string => {
  const [message] = gateway.turns[turn]!.body['messages'] as readonly { readonly content: string }[];
  return message!.content;
};
const sessionOf = (turn: number): string => gateway.turns[turn]!.endpoint.headers['x-toy-session']!;
const messages = (agentId = agent.id) =>
  world.store.channels.messages({ accountId: world.accountId, agentId, limit: 50 });
const last = async (agentId = agent.id) => (await messages(agentId))[0]!;
const act = async (verb: 'pause' | 'stop' | 'start') => {
  await plane.agents.act(world.accountId, agent.id, verb);
  await plane.agents.awaitVerb(world.accountId, agent.id, verb, 10_000, never);
};

test('a message is a turn in the session of its conversation, with who wrote as data, and its answer is sent', async () => {
  await relay.write('ping');
  assert.deepEqual(await relay.answer(), ['pong']);
  assert.match(
    said(),
    /^\[channel message \{"channel":"Telegram","conversation":"direct","conversation_id":"c1","sender_id":"ada"/,
  );
  assert.match(said(), /"sender_name":"ada \\"L\\""/);
  assert.match(said(), /\nping$/);
  await relay.write('again');
  await relay.answer();
  await relay.write('else', { conversation: 'c2', sender: 'bo' });
  await relay.answer();
  assert.match(sessionOf(0), /^channel:telegram:[\w-]+:1$/);
  assert.equal(sessionOf(1), sessionOf(0));
  assert.notEqual(sessionOf(2), sessionOf(0));
  await until('it is answered', async () => (await last()).state === 'answered');
});

test('a message wakes an agent that sleeps', async () => {
  await act('stop');
  await relay.write('ping');
  assert.deepEqual(await relay.answer(), ['pong']);
});

test('commands are answered without the agent, and /new begins another session', async () => {
  for (const [command, answer] of [
    ['/help', /\/new begins/],
    ['/status', /awake/],
    ['/new', /new conversation/],
    ['/stop', /Stopped/],
  ] as const) {
    await relay.write(command, { conversation: 'commands' });
    assert.match((await relay.answer()).join(), answer);
  }
  assert.equal(gateway.turns.length, 0);
  await relay.write('ping', { conversation: 'commands' });
  await relay.answer();
  assert.match(sessionOf(0), /:2$/);
});

test('/stop ends the turn under way, whose message is answered with nothing', async () => {
  gateway.steps = [{ text: 'half' }, 'silence'];
  await relay.write('work', { conversation: 'stopped' });
  await until('the turn is under way', () => gateway.turns.length === 1);
  await relay.write('/stop', { conversation: 'stopped' });
  assert.deepEqual(await relay.answer(), ['Stopped.']);
  assert.ok(gateway.turns[0]!.signal.aborted);
  assert.equal((await messages())[1]!.reason, 'The sender stopped it.');
});

test('/status and /help are answered while a turn is under way, which goes on', async () => {
  const end = Promise.withResolvers<void>();
  gateway.steps = [{ after: end.promise }, { text: 'done' }];
  await relay.write('work', { conversation: 'busy' });
  await until('the turn is under way', () => gateway.turns.length === 1);
  try {
    await relay.write('more', { conversation: 'busy' });
    for (const [command, answer] of [
      ['/status', /awake/],
      ['/help', /\/new begins/],
    ] as const) {
      await relay.write(command, { conversation: 'busy' });
      assert.match((await relay.answer()).join(), answer);
    }
    assert.equal(gateway.turns[0]!.signal.aborted, false);
  } finally {
    end.resolve();
  }
  const sent = [...(await relay.answer())];
  if (sent.length < 2) sent.push(...(await relay.answer()));
  assert.deepEqual(sent, ['done', 'done']);
  assert.match(said(1), /\nmore$/);
  assert.equal(gateway.turns.length, 2);
});

test('commands wait for no place of their agent, and /stop ends what waits for one', async () => {
  gateway.steps = ['silence'];
  const full = ['p1', 'p2', 'p3'];
  for (const conversation of full) await relay.write('work', { conversation });
  await until('all places are taken', () => gateway.turns.length === full.length);
  await relay.write('later', { conversation: 'p4' });
  await relay.write('/help', { conversation: 'p4' });
  assert.match((await relay.answer()).join(), /\/new begins/);
  await relay.write('/stop', { conversation: 'p4' });
  assert.deepEqual(await relay.answer(), ['Stopped.']);
  const later = (await messages()).find(({ text }) => text === 'later');
  assert.deepEqual([later!.state, later!.reason], ['answered', 'The sender stopped it.']);
  assert.equal(gateway.turns.length, full.length);
  for (const conversation of full) {
    await relay.write('/stop', { conversation });
    assert.deepEqual(await relay.answer(), ['Stopped.']);
  }
});

test('what the agent has said so far is told while its turn lasts, of a direct conversation alone', async () => {
  const end = Promise.withResolvers<void>();
  gateway.steps = [{ text: `${'x'.repeat(2_000)} half` }, { after: end.promise }, { text: ' done' }];
  for (const kind of ['direct', 'group'] as const) await relay.write('work', { conversation: `told ${kind}`, kind });
  const shown = async () => {
    const statement = 'select conversation_id as place, said from channel_conversations where said is not null';
    const rows = await execute<{ place: string; said: string }>(world.database.connectionString, statement);
    return rows.map(({ place, said: text }) => [place, text]);
  };
  try {
    await until('both turns are under way', () => gateway.turns.length === 2);
    await until('it is told', async () => (await shown()).length > 0);
    await sleep(4 * bounds.tellEveryMs);
    assert.deepEqual(await shown(), [['told direct', `${'x'.repeat(995)} half`]]);
  } finally {
    end.resolve();
  }
  const sent = [...(await relay.answer())];
  if (sent.length < 2) sent.push(...(await relay.answer()));
  assert.ok(sent.length === 2 && sent.every((text) => text.endsWith(' half done')));
  assert.deepEqual(await shown(), [], 'it is gone with its answer');
});

test('what comes while a turn is under way is one further turn, in its order', async () => {
  const end = Promise.withResolvers<void>();
  gateway.steps = [{ after: end.promise }, { text: 'one' }];
  await relay.write('first', { conversation: 'joined' });
  await until('the turn is under way', () => gateway.turns.length === 1);
  await relay.write('second', { conversation: 'joined' });
  await relay.write('third', { conversation: 'joined', sender: 'bo' });
  gateway.steps = [{ text: 'both' }];
  end.resolve();
  const sent = [...(await relay.answer())];
  if (sent.length < 2) sent.push(...(await relay.answer()));
  assert.deepEqual(sent, ['one', 'both']);
  assert.match(said(1), /second\n\n\[channel message .*"bo".*\nthird$/);
});

test('a refusal is told to the sender in a few words, and to the owner with its reason', async () => {
  gateway.refusal = { kind: 'provider_refused_key' };
  await relay.write('ping', { conversation: 'refused' });
  assert.deepEqual(await relay.answer(), ['I cannot answer right now.']);
  const { state, reason, attempts } = await last();
  assert.equal(state, 'failed');
  assert.match(reason!, /LLM provider refused/);
  assert.equal(attempts, 1);
});

test('what passes is tried again some times, then it has failed; the owner may retry', async () => {
  gateway.refusal = { kind: 'provider_rate_limit', retryAfterSeconds: 0 };
  await relay.write('ping', { conversation: 'limited' });
  assert.deepEqual(await relay.answer(), ['I cannot answer right now.']);
  assert.equal(gateway.turns.length, 4);
  const failed = await last();
  assert.deepEqual([failed.state, failed.attempts], ['failed', 4]);
  gateway.refusal = null;
  await plane.engine.channels.retry(world.accountId, agent.id, failed.id);
  assert.deepEqual(await relay.answer(), ['pong']);
});

test('commands do not wait behind a turn that is put off, and /stop ends it', async () => {
  gateway.refusal = { kind: 'provider_rate_limit', retryAfterSeconds: 600 };
  await relay.write('ping', { conversation: 'put off' });
  await until('it is put off', async () => (await last()).reason !== null);
  await relay.write('/help', { conversation: 'put off' });
  assert.match((await relay.answer()).join(), /\/new begins/);
  await relay.write('/stop', { conversation: 'put off' });
  assert.deepEqual(await relay.answer(), ['Stopped.']);
  const ping = (await messages()).find(({ text }) => text === 'ping');
  assert.deepEqual([ping!.state, ping!.reason], ['answered', 'The sender stopped it.']);
  assert.equal(gateway.turns.length, 1);
  gateway.refusal = null;
  await relay.write('again', { conversation: 'put off' });
  assert.deepEqual(await relay.answer(), ['pong']);
});

test('an agent that no message wakes is off: its sender is told once', async () => {
  const lifecycle = { ...input.lifecycle, wakeOnMessage: false };
  await plane.agents.update(world.accountId, agent.id, { lifecycle });
  await act('pause');
  await relay.write('ping', { conversation: 'off' });
  assert.deepEqual(await relay.answer(), ['I am switched off at the moment.']);
  await relay.write('ping again', { conversation: 'off' });
  await until('the second has failed', async () => (await last()).state === 'failed');
  assert.deepEqual(await relay.sendAll(), []);
  assert.equal((await world.store.agents.find(agent.id))?.status, 'paused');
  await act('start');
  await relay.write('now', { conversation: 'off' });
  assert.deepEqual(await relay.answer(), ['pong']);
  await plane.agents.update(world.accountId, agent.id, { lifecycle: input.lifecycle });
});

test('files of senders lie in the workspace before the turn, by safe names; files that an answer links to are sent', async () => {
  const file = { mediaType: 'text/plain', bytes: 5, kind: 'file' } as const;
  mkdirSync(join(guest.root, 'workspace/out'), { recursive: true });
  writeFileSync(join(guest.root, 'workspace/out/report.pdf'), 'the report');
  gateway.steps = [{ text: 'See [it](/workspace/out/report.pdf) and [that](/workspace/none.txt).' }];
  await relay.write('look', {
    conversation: 'files',
    files: [
      { ...file, ref: 'a', name: '../../etc/passwd' },
      { ...file, ref: 'b', name: '../../etc/passwd' },
    ],
  });
  await relay.fetch((ref) =>
    files.write({ accountId: world.accountId, agentId: 'any', way: 'in' }, asBytes(`file ${ref}`), 100),
  );
  const sent = await relay.answer();
  assert.equal(sent.length, 2);
  assert.match(sent[0]!, /\(none\.txt was not sent: it is not there\.\)$/);
  assert.equal(sent[1], 'file report.pdf');
  const { files: paths } = JSON.parse(/^\[channel message (.*)\]$/m.exec(said())![1]!) as { files: string[] };
  assert.equal(paths.length, 2);
  for (const [index, path] of paths.entries()) {
    assert.match(path, /^\/workspace\/inbox\/[\w-]+\/(2-)?etc_passwd$/);
    assert.equal(readFileSync(join(guest.root, path), 'utf8'), `file ${'ab'[index]}`);
  }
  const left = (): string[] => [...files.kept.values()].map(String);
  await until('what was handed over is not kept', () => !left().some((text) => text.startsWith('file ')));
  assert.ok(left().includes('the report'));
});

test('a process that dies in a turn leaves it to the next one, and nobody is answered twice', async () => {
  gateway.steps = [{ text: 'half' }, 'silence'];
  await relay.write('ping', { conversation: 'killed' });
  await until('the turn is under way', () => gateway.turns.length === 1);
  plane.kill();
  gateway.steps = [{ text: 'pong' }];
  plane = await plain();
  assert.deepEqual(await relay.answer(), ['pong']);
  assert.equal((await last()).attempts, 2);
  await until('it is answered', async () => (await last()).state === 'answered');
  assert.deepEqual(await relay.sendAll(), []);
});

test('a message that ends every process which takes it up is given up', async () => {
  gateway.steps = ['silence'];
  await relay.write('poison', { conversation: 'poison' });
  for (let kills = 1; kills <= 4; kills += 1) {
    await until('the turn is under way', () => gateway.turns.length === kills);
    plane.kill();
    plane = await plain();
  }
  assert.deepEqual(await relay.answer(), ['I could not finish this. Please try again later.']);
  assert.equal(gateway.turns.length, 4);
  assert.equal((await last()).state, 'failed');
});

test('a process that ends in order puts its turn off, and the next one takes it at once', async () => {
  gateway.steps = ['silence'];
  await relay.write('ping', { conversation: 'closing' });
  await until('the turn is under way', () => gateway.turns.length === 1);
  await plane.engine.stop();
  assert.match((await last()).reason!, /service ended/);
  plane.kill();
  gateway.steps = [{ text: 'pong' }];
  plane = await plain();
  assert.deepEqual(await relay.answer(), ['pong']);
});

async function* asBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
