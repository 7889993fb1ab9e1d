import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBucket, TokenBuckets, refilled, sliceOf, waitFor } from './rate-limit.ts';

const rule = { perMinute: 60 };

test('tokens come back evenly, never beyond the capacity, and a clock that goes back takes none away', () => {
  assert.equal(refilled(0, rule, 1000), 1);
  assert.equal(refilled(10, rule, 30_000), 40);
  assert.equal(refilled(59, rule, 3_600_000), 60);
  assert.equal(refilled(7, rule, -5000), 7);
});

test('the wait for a token is as long as it takes to come back', () => {
  assert.equal(waitFor(0, rule, 1), 1000);
  assert.equal(waitFor(0.5, rule, 1), 500);
  assert.equal(waitFor(1, rule, 1), 0);
  assert.equal(waitFor(0, { perMinute: 7 }, 1), 8572);
  for (const perMinute of [1, 7, 60, 600, 100_000]) {
    const waitMs = waitFor(0.3, { perMinute }, 1);
    assert.ok(refilled(0.3, { perMinute }, waitMs) >= 1, `after the wait for ${perMinute} there is one`);
  }
});

test('a slice is a tenth, and at least one', () => {
  assert.deepEqual(
    [1, 9, 60, 600].map((perMinute) => sliceOf({ perMinute })),
    [1, 1, 6, 60],
  );
});

test('a bucket gives its burst, then its rate, whole or in part', () => {
  const bucket = new TokenBucket({ perSecond: 10, burst: 20 });
  assert.equal(bucket.take(50, 0), 20);
  assert.equal(bucket.take(1, 0), 0);
  assert.equal(bucket.take(3, 500), 3);
  assert.equal(bucket.allows(3, 500), false);
  assert.equal(bucket.take(3, 500), 2);
  assert.equal(bucket.allows(21, 60_000), false, 'more than there can ever be');
  assert.equal(bucket.allows(20, 60_000), true);
  assert.equal(bucket.take(1, 50_000), 0, 'a clock that goes back gives none');
});

test('each name has a bucket of its own, and the names are bounded', () => {
  const buckets = new TokenBuckets({ perSecond: 1, burst: 2 }, 2);
  const spend = (name: string): boolean[] => [0, 0, 0].map((nowMs) => buckets.allows(name, nowMs));
  assert.deepEqual(spend('a'), [true, true, false]);
  assert.deepEqual(spend('b'), [true, true, false]);
  assert.equal(buckets.allows('a', 1_000), true);
  assert.equal(buckets.allows('c', 1_000), true, 'b was not asked for longest');
  assert.deepEqual(spend('b'), [true, true, false], 'and begins full again');
});
