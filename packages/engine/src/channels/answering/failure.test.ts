import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '@lodge/domain';
import { failureOf } from './failure.ts';

const waitsMs = [10, 20];

test('what passes by itself is put off, longer each time, and at last has failed', () => {
  const busy = new Refusal('insufficient_capacity', 'No room.');
  assert.deepEqual(failureOf(busy, 1, waitsMs), { to: 'later', afterMs: 10, reason: 'No room.' });
  assert.deepEqual(failureOf(busy, 2, waitsMs), { to: 'later', afterMs: 20, reason: 'No room.' });
  assert.equal(failureOf(busy, 3, waitsMs).to, 'end');
});

test('a time that was asked for is waited, within a bound', () => {
  const asked = (retryAfterSeconds: number) =>
    failureOf(new Refusal('rate_limit_exceeded', 'x', { retryAfterSeconds }), 1, waitsMs);
  assert.deepEqual(asked(7), { to: 'later', afterMs: 7_000, reason: 'x' });
  assert.deepEqual(asked(1e6), { to: 'later', afterMs: 600_000, reason: 'x' });
});

test('an agent that may have acted is not asked again; one that was not reached is', () => {
  assert.equal(failureOf(new Refusal('agent_unavailable', 'x', { mayRepeat: false }), 1, waitsMs).to, 'end');
  assert.equal(failureOf(new Refusal('agent_unavailable', 'x'), 1, waitsMs).to, 'later');
});

test('a sender learns nothing of the account; what failed within the service says so to nobody', () => {
  const limit = failureOf(new Refusal('spend_limit_exceeded', 'The limit of 5 USD a day is reached.'), 1, waitsMs);
  assert.deepEqual(limit, {
    to: 'end',
    reason: 'The limit of 5 USD a day is reached.',
    text: 'I cannot answer right now.',
  });
  const ours = failureOf(new Error('postgres://user:secret@host'), 3, waitsMs);
  assert.ok(!JSON.stringify(ours).includes('secret'));
});
