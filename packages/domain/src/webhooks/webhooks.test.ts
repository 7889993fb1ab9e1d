import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicEvents } from '../events/event.ts';
import { namesSomething, typesOf, webhookPattern } from './patterns.ts';
import { isLastAttempt, retryWaitMs, webhookGiveUpMs, webhookRetries } from './retry.ts';

test('a pattern is a type, a family or all of them', () => {
  assert.deepEqual(typesOf(['*']), [...publicEvents.keys()]);
  assert.deepEqual(typesOf(['agent.paused', 'agent.paused']), ['agent.paused']);
  assert.ok(typesOf(['agent.*']).length > 5);
  assert.ok(typesOf(['agent.*']).every((type) => type.startsWith('agent.')));
  assert.deepEqual(typesOf(['agents.*', 'none.such']), []);
  assert.ok(namesSomething('later.*'));
  assert.ok(!namesSomething('agent.pawsed'));
  for (const good of ['*', 'agent.*', 'api_key.created']) assert.match(good, webhookPattern);
  for (const bad of ['', 'agent', 'agent.', '*.*', 'agent.p*', 'a.b.c', 'Agent.*', ' agent.*', `${'a'.repeat(41)}.*`]) {
    assert.doesNotMatch(bad, webhookPattern);
  }
});

test('a wait grows, is spread, and heeds what the receiver asks within a bound', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 100].map((attempts) => retryWaitMs(webhookRetries, attempts, null, 0));
  assert.deepEqual(
    waits,
    waits.toSorted((a, b) => a - b),
  );
  assert.equal(waits[0], 5_000);
  assert.equal(retryWaitMs(webhookRetries, 1, null, 0.5), 5_500);
  assert.equal(retryWaitMs(webhookRetries, 1, 60_000, 0), 60_000);
  assert.equal(retryWaitMs(webhookRetries, 1, 1e12, 0), 4 * 3_600_000);
  assert.ok(waits.slice(0, 8).reduce((sum, wait) => sum + wait) < webhookGiveUpMs);
});

test('a delivery is given up once its waits have come to a day, and the last listed wait repeats', () => {
  const last = Array.from({ length: 20 }, (_, n) => isLastAttempt(webhookRetries, n + 1)).indexOf(true) + 1;
  assert.equal(last, 14);
  assert.ok(isLastAttempt(webhookRetries, 15));
});
