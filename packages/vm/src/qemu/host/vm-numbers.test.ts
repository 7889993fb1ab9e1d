import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VmNumbers } from './vm-numbers.ts';

test('a slot has one holder, and one given back is the last to be handed out again', () => {
  const slots = new VmNumbers(3);
  slots.keep(1);
  assert.deepEqual([slots.claim(), slots.claim()], [2, 0]);
  assert.throws(() => slots.claim(), { name: 'VmError', code: 'no_capacity' });
  slots.release(1);
  slots.release(2);
  assert.deepEqual([slots.claim(), slots.claim()], [1, 2]);
});
