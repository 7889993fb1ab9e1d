import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refilled, sliceOf, waitFor } from './rate-limit.ts';

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
