import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptPace, maxPace, paceOf, referenceBootMs } from './pace.ts';

test('the pace is how much longer than the reference a guest booted, and has a floor and a bound', () => {
  assert.equal(paceOf(referenceBootMs), 1);
  assert.equal(paceOf(referenceBootMs / 20), 1, 'bounds are never shorter than on the reference');
  assert.equal(paceOf(5.2 * referenceBootMs), 6);
  assert.equal(paceOf(1000 * referenceBootMs), maxPace);
});

test('a pace that was kept counts where it can be one', () => {
  assert.equal(keptPace(6), 6);
  for (const none of [undefined, null, '6', 0, -1, 1.5, Number.NaN, Infinity, maxPace + 1])
    assert.equal(keptPace(none), 1);
});
