import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '@lodge/domain';
import { failureOf } from './failure.ts';
import { taskRetries } from './task.ts';

const rules = taskRetries([10_000, 60_000]);
const of = (error: unknown, tries = 1, hasBegun = true) => failureOf(error, rules, { tries, hasBegun });

test('what may pass is tried again after a wait, as often as there are waits', () => {
  for (const code of ['agent_unavailable', 'rate_limit_exceeded', 'insufficient_capacity', 'internal_error'] as const) {
    assert.equal(of(new Refusal(code, 'x')).retryAfterMs, 10_000, code);
  }
  assert.equal(of(new Error('ours')).retryAfterMs, 10_000);
  assert.equal(of(new Error('ours'), 2).retryAfterMs, 60_000);
  assert.equal(of(new Error('ours'), 3).retryAfterMs, null);
});

test('work whose agent has no room to wake waits for room, however often', () => {
  const noRoom = new Refusal('insufficient_capacity', 'No room.');
  for (const [tries, waitMs] of [
    [1, 10_000],
    [2, 60_000],
    [3, 60_000],
    [50, 60_000],
  ] as const) {
    const { retryAfterMs, lackedRoom } = of(noRoom, tries, false);
    assert.deepEqual([retryAfterMs, lackedRoom], [waitMs, true], `${tries}`);
  }
  assert.deepEqual([of(noRoom, 3, true).retryAfterMs, of(noRoom, 3, true).lackedRoom], [null, false]);
});

test('a wait is as long as is asked for, within a bound', () => {
  const asked = (retryAfterSeconds: number) =>
    of(new Refusal('rate_limit_exceeded', 'x', { retryAfterSeconds })).retryAfterMs;
  assert.equal(asked(30), 30_000);
  assert.equal(asked(1e9), 900_000);
});

test('keys, limits and loops are not tried again', () => {
  for (const code of ['invalid_request', 'spend_limit_exceeded', 'loop_detected', 'agent_not_running'] as const) {
    assert.equal(of(new Refusal(code, 'x')).retryAfterMs, null, code);
  }
});

test('what had begun and must not be repeated by itself may have acted', () => {
  assert.equal(of(new Refusal('agent_unavailable', 'x', { mayRepeat: false })).mayHaveActed, true);
  assert.equal(of(new Refusal('agent_unavailable', 'x')).mayHaveActed, false);
  assert.equal(of(new Error('ours')).mayHaveActed, true);
  assert.equal(of(new Error('ours'), 1, false).mayHaveActed, false);
});

test('a reason is one bounded line', () => {
  assert.equal(of(new Refusal('internal_error', `a\nb ${'x'.repeat(2_000)}`)).reason.length, 500);
  assert.equal(of(new Error('a path of ours')).reason, 'Something failed within this service.');
});
