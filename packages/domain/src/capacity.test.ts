import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cloneFootprintMib, fits } from './capacity.ts';

const host = { totalMib: 9216, availableMib: 8000, reservedMib: 1024, overcommit: 1 };

test('what is promised never exceeds memory times overcommit', () => {
  assert.equal(fits(host, [], 'large'), true);
  assert.equal(fits(host, ['small'], 'large'), false);
  assert.equal(fits({ ...host, overcommit: 2 }, ['large'], 'large'), true);
  assert.equal(fits({ ...host, overcommit: 2 }, ['large', 'large'], 'small'), false);
});

test('a host with too little free memory takes no agent however little is promised', () => {
  assert.equal(fits({ ...host, availableMib: 512 + cloneFootprintMib - 1 }, [], 'small'), false);
  assert.equal(fits({ ...host, availableMib: 512 + cloneFootprintMib }, [], 'small'), true);
});
