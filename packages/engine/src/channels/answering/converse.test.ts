import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '@lodge/domain';
import { failureOf } from '../../work/failure.ts';
import { conversationRetries, textOf } from './converse.ts';

const rules = conversationRetries([10, 20]);
const of = (error: unknown, tries = 1) => failureOf(error, rules, { tries, hasBegun: true });

test('what passes by itself is put off, longer each time, and at last has failed', () => {
  const busy = new Refusal('insufficient_capacity', 'No room.');
  assert.equal(of(busy).retryAfterMs, 10);
  assert.equal(of(busy).reason, 'No room.');
  assert.equal(of(busy, 2).retryAfterMs, 20);
  assert.equal(of(busy, 3).retryAfterMs, null);
});

test('a time that was asked for is waited, within a bound', () => {
  const asked = (retryAfterSeconds: number) =>
    of(new Refusal('rate_limit_exceeded', 'x', { retryAfterSeconds })).retryAfterMs;
  assert.equal(asked(7), 7_000);
  assert.equal(asked(1e6), 600_000);
});

test('an agent that may have acted is not asked again; one that was not reached is', () => {
  assert.equal(of(new Refusal('agent_unavailable', 'x', { mayRepeat: false })).retryAfterMs, null);
  assert.equal(of(new Refusal('agent_unavailable', 'x')).retryAfterMs, 10);
});

test('a sender learns nothing of the account; what failed within the service says so to nobody', () => {
  const limit = of(new Refusal('spend_limit_exceeded', 'The limit of 5 USD a day is reached.'));
  assert.equal(limit.retryAfterMs, null);
  assert.equal(limit.reason, 'The limit of 5 USD a day is reached.');
  assert.equal(textOf(limit.code), 'I cannot answer right now.');
  const ours = of(new Error('postgres://user:secret@host'), 3);
  assert.equal(ours.retryAfterMs, null);
  assert.ok(!`${JSON.stringify(ours)} ${textOf(ours.code)}`.includes('secret'));
});
