import { Refusal } from '@lodge/domain';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { CallRefusal, LlmCall, OpenCall } from '@lodge/ports';
import type { AskedTurn } from '../agents/agents.ts';
import { Turns } from './loop-guard.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const agentId = 'k7d2m9q4x1ab';
const reached = { code: 'spend_limit_exceeded', message: 'It is reached.', retryAfterSeconds: 9 } as const;
const askedBy = (payerId: string, limited = false): AskedTurn => ({ askers: [payerId], depth: 1, payerId, limited });

/** Turns over a ledger that refuses on request. The test sets the time. */
function setUp(t: TestContext, bounds = { calls: 5, same: 3 }) {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: new Date('2027-05-10T12:00:00Z') });
  const notices: string[] = [];
  const asleep: string[] = [];
  const noted: string[] = [];
  let refusal: CallRefusal | null = null;
  let isDown = false;
  /** Agents whose limit is reached, and the agents in whose name calls were opened and closed. */
  const broke = new Set<string>();
  const booked: string[] = [];
  const closedFor: string[] = [];
  const turns = new Turns({
    log: silent,
    bounds,
    tell: async (_id, message) => void notices.push(message),
    sleep: (id) => void asleep.push(id),
    note: async (call) => void noted.push(call.id),
  });
  const ledger = turns.watch({
    open: async (call) => {
      if (isDown) throw new Error('no database');
      if (refusal === null && !broke.has(call.agentId)) booked.push(call.agentId);
      return broke.has(call.agentId) ? { ...reached, ends: 'sleep' } : refusal;
    },
    close: async (call) => void closedFor.push(call.agentId),
  });
  const call = (digest: string): OpenCall => ({
    id: randomUUID(),
    agentId,
    accountId: 'a',
    provider: 'x',
    model: 'm',
    api: 'openai-completions',
    startedAt: new Date(),
    digest,
    estimate: { inputTokens: 1, outputTokens: 1, costUsd: null },
  });
  const closed = ({ id, startedAt, provider, model, api }: OpenCall, outcome: LlmCall['outcome'] = 'ok'): LlmCall => ({
    id,
    agentId,
    accountId: 'a',
    provider,
    model,
    api,
    startedAt,
    durationMs: 1,
    timeToFirstByteMs: 1,
    status: 200,
    outcome,
    estimated: false,
    costUsd: '1',
    priceVersion: 'v',
    inputTokens: 1,
    outputTokens: 1,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    cacheWriteLongTokens: null,
    reasoningTokens: null,
    imageTokens: null,
  });
  /** Makes one call from beginning to end. */
  const ask = async (digest: string = randomUUID(), outcome: LlmCall['outcome'] = 'ok') => {
    const asked = call(digest);
    const refused = await ledger.open(asked);
    if (refused === null) await ledger.close(closed(asked, outcome));
    return refused?.code ?? null;
  };
  const begin = (asked?: AskedTurn) => {
    const over = new AbortController();
    return { turn: turns.begin(agentId, over.signal, asked), end: () => over.abort() };
  };
  return {
    turns,
    broke,
    booked,
    closedFor,
    ledger,
    notices,
    asleep,
    noted,
    call,
    closed,
    ask,
    begin,
    refuse: (next: CallRefusal | null) => void (refusal = next),
    down: (next: boolean) => void (isDown = next),
    pass: (ms: number) => t.mock.timers.tick(ms),
  };
}

const limit: CallRefusal = {
  code: 'spend_limit_exceeded',
  message: 'It is reached.',
  retryAfterSeconds: 60,
  ends: 'turn',
};

test('a turn knows whether the model has answered it, while it is the only one', async (t) => {
  const { ask, begin } = setUp(t);
  const first = begin();
  await ask('a', 'provider_error');
  assert.equal(first.turn.hasModelAnswered, false);
  const second = begin();
  await ask('b');
  assert.deepEqual([first.turn.hasModelAnswered, second.turn.hasModelAnswered], [false, false]);
  second.end();
  await ask('c');
  assert.equal(first.turn.hasModelAnswered, true);
  first.end();
});

test('a turn has so many calls; the next is cut as a loop, with one line in the log, and the turn with it', async (t) => {
  const { ask, begin, notices, pass } = setUp(t);
  const { turn, end } = begin();
  for (let i = 0; i < 5; i += 1) assert.equal(await ask(), null);
  assert.deepEqual([await ask(), await ask()], ['loop_detected', 'loop_detected']);
  assert.equal(notices.length, 1);
  assert.match(notices[0]!, /5 model calls in one turn.*loop_detected/);
  assert.equal(turn.signal.aborted, false);
  pass(2_000);
  assert.ok(turn.signal.reason instanceof Refusal);
  assert.deepEqual([turn.signal.reason.code, turn.signal.reason], ['loop_detected', turn.refusal]);
  end();
  const next = begin();
  assert.equal(await ask(), null);
  assert.equal(next.turn.refusal, null);
});

test('the same request, answered over and over, is a loop; tries that came to nothing are not counted', async (t) => {
  const { ask, begin } = setUp(t, { calls: 100, same: 3 });
  begin();
  for (let i = 0; i < 9; i += 1) assert.equal(await ask('same', 'provider_error'), null);
  for (let i = 0; i < 3; i += 1) assert.equal(await ask('same'), null);
  assert.equal(await ask('same'), 'loop_detected');
});

test('outside of turns ten minutes have as many calls as a turn, and turns have their own', async (t) => {
  const { ask, begin, pass } = setUp(t);
  for (let i = 0; i < 5; i += 1) assert.equal(await ask(), null);
  assert.equal(await ask(), 'loop_detected');
  const { end } = begin();
  assert.equal(await ask(), null);
  end();
  assert.equal(await ask(), null);
  for (let i = 0; i < 5; i += 1) await ask();
  assert.equal(await ask(), 'loop_detected');
  pass(10 * 60_000);
  assert.equal(await ask(), null);
});

test('turns at once share what each of them adds', async (t) => {
  const { ask, begin } = setUp(t);
  const [one] = [begin(), begin()];
  for (let i = 0; i < 10; i += 1) assert.equal(await ask(), null);
  one.end();
  assert.equal(await ask(), 'loop_detected');
});

test('a refusal for good ends the turn, once what was admitted has ended and come through', async (t) => {
  const { ask, ledger, begin, call, closed, refuse, pass } = setUp(t);
  const { turn } = begin();
  const underWay = call('a');
  await ledger.open(underWay);
  refuse(limit);
  assert.equal(await ask(), 'spend_limit_exceeded');
  pass(60_000);
  assert.equal(turn.signal.aborted, false);
  await ledger.close(closed(underWay));
  pass(1_999);
  assert.equal(turn.signal.aborted, false);
  pass(1);
  assert.deepEqual(
    [turn.signal.aborted, turn.refusal?.code, turn.refusal?.message, turn.refusal?.retryAfterSeconds],
    [true, 'spend_limit_exceeded', 'It is reached.', 60],
  );
});

test('a refusal that passes ends nothing, and is forgotten with the next call that is made', async (t) => {
  const { ask, begin, refuse, pass } = setUp(t);
  const { turn } = begin();
  const { ends: _, ...passing } = limit;
  refuse(passing);
  await ask();
  pass(60_000);
  assert.deepEqual([turn.signal.aborted, turn.refusal?.code], [false, 'spend_limit_exceeded']);
  refuse(null);
  await ask();
  assert.equal(turn.refusal, null);
});

test('an agent whose limit says so is to be put to sleep', async (t) => {
  const { ask, asleep, refuse } = setUp(t);
  await ask();
  refuse({ ...limit, ends: 'sleep' });
  await ask();
  assert.deepEqual(asleep, [agentId]);
});

test('a call that could not be opened, or is opened again, counts once; each that ends is noted', async (t) => {
  const { ask, ledger, begin, call, closed, down, noted } = setUp(t);
  begin();
  down(true);
  for (let i = 0; i < 20; i += 1) await assert.rejects(ask());
  down(false);
  const again = call('a');
  for (let i = 0; i < 20; i += 1) assert.equal(await ledger.open(again), null);
  await ledger.close(closed(again));
  for (let i = 0; i < 4; i += 1) assert.equal(await ask(), null);
  assert.equal(await ask(), 'loop_detected');
  assert.equal(noted.length, 5);
});

test('calls of a turn that another agent asked for are opened and closed as that one its', async (t) => {
  const { turns, begin, ask, booked, closedFor } = setUp(t);
  const asked = begin(askedBy('asker'));
  assert.deepEqual(turns.asked(agentId), [askedBy('asker')]);
  await ask();
  assert.deepEqual([booked, closedFor], [['asker'], ['asker']]);
  asked.end();
  assert.deepEqual(turns.asked(agentId), []);
  await ask();
  assert.deepEqual([booked.at(-1), closedFor.at(-1)], [agentId, agentId]);
});

test('turns of several payers at once share their calls, and the limit of one ends the turns of that one alone', async (t) => {
  const { begin, ask, booked, broke, asleep } = setUp(t, { calls: 50, same: 50 });
  const own = begin();
  const asked = begin(askedBy('asker'));
  for (let n = 0; n < 4; n += 1) await ask();
  assert.deepEqual(booked.toSorted(), ['asker', 'asker', agentId, agentId]);
  broke.add('asker');
  for (let n = 0; n < 4; n += 1) assert.equal(await ask(), null);
  t.mock.timers.tick(2_000);
  assert.deepEqual(asleep, ['asker']);
  assert.equal(asked.turn.signal.reason.code, 'spend_limit_exceeded');
  assert.equal(own.turn.signal.aborted, false);
  assert.equal(own.turn.refusal, null);
});

test('who asks under a spend limit pays for no call without a known price', async (t) => {
  const { begin, ask, booked } = setUp(t);
  const { turn } = begin(askedBy('asker', true));
  assert.equal(await ask(), 'spend_limit_exceeded');
  assert.deepEqual(booked, []);
  assert.match(turn.refusal!.message, /no known price/);
});

test('that a payer is under a limit is known before a call is opened, as long as its turn goes on', (t) => {
  const { begin, ledger } = setUp(t);
  assert.equal(ledger.payerIsLimited!(agentId), false);
  begin();
  assert.equal(ledger.payerIsLimited!(agentId), false);
  const asked = begin(askedBy('asker', true));
  assert.equal(ledger.payerIsLimited!(agentId), true);
  asked.end();
  assert.equal(ledger.payerIsLimited!(agentId), false);
});
