import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLifecycle } from './agent.ts';
import { idleVerb, mayBeEvicted } from './idleness.ts';
import type { IdleFacts } from './idleness.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const facts = (given: Partial<IdleFacts> = {}): IdleFacts => ({
  status: 'running',
  operation: null,
  lifecycle: defaultLifecycle,
  isKeptAwake: false,
  createdAt: ago(9_000),
  startedAt: ago(9_000),
  pausedAt: null,
  lastActiveAt: ago(45),
  ...given,
});

test('a running agent is paused when its idle time is over, and not a moment before', () => {
  assert.equal(idleVerb(facts(), now), 'pause');
  assert.equal(idleVerb(facts({ lastActiveAt: ago(44.9) }), now), null);
});

test('an agent that has just come back has its idle time before it', () => {
  assert.equal(idleVerb(facts({ startedAt: ago(10) }), now), null);
});

test('a paused agent is stopped so much later than it was paused, or than its last use if that came after', () => {
  const paused = { status: 'paused', pausedAt: ago(1800) } as const;
  assert.equal(idleVerb(facts({ ...paused, lastActiveAt: ago(2_000) }), now), 'stop');
  assert.equal(idleVerb(facts({ ...paused, lastActiveAt: ago(1_799) }), now), null);
  assert.equal(idleVerb(facts({ ...paused, pausedAt: ago(1_799), lastActiveAt: ago(2_000) }), now), null);
});

test('what is held, under way, kept awake, never idle, or neither running nor paused stays as it is', () => {
  const operation = { kind: 'restart', cause: 'request', startedAt: ago(1) } as const;
  assert.equal(idleVerb(facts({ isKeptAwake: true }), now), null);
  assert.equal(idleVerb(facts({ operation }), now), null);
  assert.equal(idleVerb(facts({ lifecycle: { ...defaultLifecycle, keepAwake: 'always' } }), now), null);
  assert.equal(idleVerb(facts({ lifecycle: { ...defaultLifecycle, idleTimeoutSeconds: 0 } }), now), null);
  for (const status of ['provisioning', 'stopped', 'error'] as const) {
    assert.equal(idleVerb(facts({ status }), now), null);
  }
});

test('only a paused agent that nobody holds, and that need not stay awake, gives its memory up', () => {
  assert.equal(mayBeEvicted(facts({ status: 'paused' })), true);
  assert.equal(mayBeEvicted(facts({ status: 'running' })), false);
  assert.equal(mayBeEvicted(facts({ status: 'paused', isKeptAwake: true })), false);
  const always = { ...defaultLifecycle, keepAwake: 'always' } as const;
  assert.equal(mayBeEvicted(facts({ status: 'paused', lifecycle: always })), false);
});
