/** The one way to talk to an agent, on a real database and a fake host: its rules hold for every caller. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { FakeHost } from '@lodge/vm/fake';
import type { CallRefusal, OpenCall } from '@lodge/ports';
import { FakeGateway } from '../../../testkit/src/plane/fake-gateway.ts';
import { input, never, running, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../testkit/src/plane/plane.ts';
import type { TurnOrigin, TurnRequest } from './run-turn.ts';
import { message } from './run-turn.ts';

const gateway = new FakeGateway();
const limit: CallRefusal = {
  code: 'spend_limit_exceeded',
  message: 'It is reached.',
  retryAfterSeconds: 60,
  ends: 'turn',
};
/** The refusal that puts agents to sleep, while it is set. */
let asleep: CallRefusal | null = null;
/** Turns that began and have not ended. */
const underWay: TurnOrigin[] = [];
let world: World;
let plane: Plane;
let agentId: string;

before(async () => {
  world = await World.open();
  plane = await startPlane(world, new FakeHost(), {
    gateway,
    spend: { asleep: async () => asleep, note: async () => undefined },
    onTurn(origin) {
      underWay.push(origin);
      return () => void underWay.splice(underWay.indexOf(origin), 1);
    },
  });
  ({ id: agentId } = await running(world, plane));
});
after(async () => {
  await plane?.end();
  await world?.close();
});
beforeEach(() => {
  gateway.turns.length = 0;
  gateway.steps = [{ text: 'po' }, { text: 'ng' }];
  gateway.refusal = null;
  asleep = null;
  plane.calls.length = 0;
});

const say = (changes: Partial<TurnRequest> = {}) =>
  plane.engine.runTurn({
    agentId,
    accountId: world.accountId,
    member: null,
    conversation: null,
    origin: 'schedule',
    said: message('ping'),
    wake: false,
    wakeTimeoutMs: 10_000,
    timeoutMs: 30_000,
    signal: never,
    ...changes,
  });
const act = async (verb: 'pause' | 'stop' | 'start') => {
  await plane.agents.act(world.accountId, agentId, verb);
  await plane.agents.awaitVerb(world.accountId, agentId, verb, 10_000, never);
};

test('an answer is read as events, as a text, or as a body, and the request carries the runtime’s model', async () => {
  const events = await Array.fromAsync((await say()).events());
  assert.deepEqual(
    events.map(({ text, isLast }) => [text, isLast]),
    [
      ['po', false],
      ['ng', false],
      ['', true],
    ],
  );
  assert.deepEqual(gateway.turns[0]?.body, {
    messages: [{ role: 'user', content: 'ping' }],
    stream: true,
    model: 'x',
  });
  assert.equal(await (await say()).text(), 'pong');
  const said = { api: 'responses', body: { input: 'ping', model: 'y' } } as const;
  assert.deepEqual(await (await say({ said })).body(), { choices: [{ message: { content: 'pong' } }] });
  assert.deepEqual([gateway.turns[2]?.api, gateway.turns[2]?.body], ['responses', { input: 'ping', model: 'x' }]);
  assert.equal(await (await say({ said })).text(), 'pong');
});

test('a text names its files', async () => {
  gateway.steps = [{ text: 'See [a](/workspace' }, { text: '/a.txt)' }];
  const answer = await say();
  assert.deepEqual(await answer.files(), ['/workspace/a.txt']);
  assert.match(await answer.text(), /See/);
});

test('the disk is written out once the answer is whole, and before its reader knows of the end', async () => {
  for await (const { isLast } of (await say()).events()) {
    assert.deepEqual(
      plane.calls.filter((call) => call === 'flush'),
      isLast ? ['flush'] : [],
    );
  }
  assert.equal(await (await say({ said: { api: 'responses', body: { input: 'ping' } } })).text(), 'pong');
  assert.equal(plane.calls.filter((call) => call === 'flush').length, 2);
});

test('a sleeping agent is woken where its lifecycle or the asker say so', async () => {
  await act('pause');
  assert.equal(await (await say()).text(), 'pong');
  await act('stop');
  await assert.rejects(say(), { code: 'agent_not_running' });
  assert.equal(await (await say({ wake: true })).text(), 'pong');
});

test('no message wakes an agent that its spend limit has put to sleep', async () => {
  await act('pause');
  asleep = limit;
  await assert.rejects(say({ wake: true }), { code: 'spend_limit_exceeded', retryAfterSeconds: 60 });
  assert.equal(gateway.turns.length, 0);
  asleep = null;
  assert.equal(await (await say()).text(), 'pong');
});

test('a member that there is not, another account and no agent are refused', async () => {
  await assert.rejects(say({ member: 'scout' }), { code: 'member_not_found' });
  await assert.rejects(say({ accountId: randomUUID() }), { code: 'agent_not_found' });
  await assert.rejects(say({ agentId: 'a'.repeat(12) }), { code: 'agent_not_found' });
  assert.equal(gateway.turns.length, 0);
  const scout = { name: 'scout', model: null, instructions: null, createdAt: new Date() };
  await plane.agents.changeMembers(world.accountId, agentId, () => [scout]);
  assert.equal(await (await say({ member: 'scout', conversation: 'ada' })).text(), 'pong');
});

test('a turn whose model calls are refused for good is cut, with that refusal', async () => {
  gateway.steps = [{ text: 'half' }, 'silence'];
  const answer = await say();
  const text = answer.text();
  text.catch(() => undefined);
  await answer.opened;
  const ledger = plane.engine.watchCalls({ open: async () => limit, close: async () => undefined });
  assert.deepEqual(await ledger.open(call()), limit);
  await assert.rejects(text, { code: 'spend_limit_exceeded', message: 'It is reached.' });
  assert.equal(gateway.turns[0]?.signal.aborted, true);
});

test('a failure of the runtime is told as what its last model call was refused for', async () => {
  gateway.steps = [{ failure: { kind: 'turn_failed' } }];
  const answer = await say();
  const ledger = plane.engine.watchCalls({ open: async () => limit, close: async () => undefined });
  await ledger.open(call());
  await assert.rejects(answer.text(), { code: 'spend_limit_exceeded' });
});

test('a failure is a refusal, before the answer opens and in its midst', async () => {
  gateway.refusal = { kind: 'provider_rate_limit', retryAfterSeconds: 7 };
  const refused = await say();
  await assert.rejects(refused.opened, { code: 'rate_limit_exceeded', retryAfterSeconds: 7, mayRepeat: false });
  await assert.rejects(refused.text(), { code: 'rate_limit_exceeded' });
  gateway.refusal = null;
  gateway.steps = [{ text: 'half' }, { failure: { kind: 'broken_off' } }];
  await assert.rejects((await say()).text(), { code: 'agent_unavailable', mayRepeat: false });
  gateway.steps = [{ failure: { kind: 'request_refused', words: 'No such field.' } }];
  await assert.rejects((await say()).text(), { code: 'invalid_request', message: 'No such field.' });
});

test('a turn that takes too long is cut', async () => {
  gateway.steps = ['silence'];
  await assert.rejects((await say({ timeoutMs: 1_000 })).text(), {
    code: 'agent_unavailable',
    message: 'The agent did not finish within 1 seconds.',
  });
  assert.equal(gateway.turns[0]?.signal.aborted, true);
});

test('a turn whose asker goes away is cancelled in the guest, and one that went away before begins nothing', async () => {
  gateway.steps = [{ text: 'half' }, 'silence'];
  const asker = new AbortController();
  const text = (await say({ signal: asker.signal })).text();
  setTimeout(() => asker.abort(), 100);
  await assert.rejects(text, { code: 'agent_unavailable' });
  assert.equal(gateway.turns[0]?.signal.aborted, true);
  await assert.rejects(say({ signal: asker.signal }), { code: 'agent_unavailable' });
  assert.equal(gateway.turns.length, 1);
});

test('a reader that stops in the midst ends the turn', async () => {
  gateway.steps = [{ text: 'half' }, 'silence'];
  for await (const { text } of (await say()).events()) if (text === 'half') break;
  assert.equal(gateway.turns[0]?.signal.aborted, true);
});

test('an agent is kept awake to the end of the turn and no longer', async () => {
  const sleepy = { ...input.lifecycle, idleTimeoutSeconds: 1, stopAfterSeconds: 60 };
  const { id } = await running(world, plane, { lifecycle: sleepy });
  gateway.steps = [{ text: 'half' }, 'silence'];
  const asker = new AbortController();
  const text = (await say({ agentId: id, signal: asker.signal, origin: 'channel' })).text();
  text.catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  assert.equal((await world.store.agents.find(id))?.status, 'running');
  assert.deepEqual(underWay, ['channel'], 'all others have ended');
  asker.abort();
  await assert.rejects(text);
  assert.deepEqual(underWay, []);
  await until('it sleeps', async () => (await world.store.agents.find(id))?.status === 'paused');
});

function call(): OpenCall {
  return {
    id: randomUUID(),
    agentId,
    accountId: world.accountId,
    provider: 'p',
    model: 'm',
    api: 'openai-completions',
    startedAt: new Date(),
    digest: randomUUID(),
    estimate: { inputTokens: 1, outputTokens: 1, costUsd: null },
  };
}
