import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from './backoff.ts';

const waits = (rule: Parameters<typeof backoffMs>[0], random?: () => number): number[] =>
  [1, 2, 3, 4, 5, 1e6].map((failures) => backoffMs(rule, failures, random));

test('a wait doubles with each failure, or grows otherwise, up to the longest one', () => {
  assert.deepEqual(waits({ firstMs: 100, maxMs: 1_000 }), [100, 200, 400, 800, 1_000, 1_000]);
  assert.deepEqual(waits({ firstMs: 10, maxMs: 7_000, growth: 6 }), [10, 60, 360, 2_160, 7_000, 7_000]);
  assert.deepEqual(waits({ firstMs: 0, maxMs: 7_000 }), [0, 0, 0, 0, 0, 0]);
});

test('chance takes away no more than its share', () => {
  const rule = { firstMs: 100, maxMs: 400, jitter: 0.5 };
  assert.deepEqual(
    waits(rule, () => 0),
    [50, 100, 200, 200, 200, 200],
  );
  assert.deepEqual(
    waits(rule, () => 0.5),
    [75, 150, 300, 300, 300, 300],
  );
  assert.deepEqual(waits(rule), [100, 200, 400, 400, 400, 400]);
  assert.equal(
    backoffMs({ ...rule, jitter: 1 }, 3, () => 0),
    0,
  );
});
