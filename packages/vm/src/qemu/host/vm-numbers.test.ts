import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VmNumbers } from './vm-numbers.ts';

test('a slot has one holder, and one given back is the last to be handed out again', () => {
  const slots = new VmNumbers(3, 2);
  slots.keep(1);
  assert.deepEqual([slots.claim(), slots.claim()], [2, 0]);
  assert.throws(() => slots.claim(), { name: 'VmError', code: 'no_capacity' });
  slots.release(1);
  slots.release(2);
  assert.deepEqual([slots.claim(), slots.claim()], [1, 2]);
});

test('VMs from before do not tell where the turn begins', () => {
  const slots = new VmNumbers(8, 5);
  for (const kept of [0, 1, 6]) slots.keep(kept);
  assert.deepEqual([slots.claim(), slots.claim(), slots.claim()], [5, 7, 2]);
});

test('the turn begins by chance: a restart does not hand out the number that was handed out last', () => {
  const count = 2 ** 14;
  const firsts = new Set(Array.from({ length: 20 }, () => new VmNumbers(count).claim()));
  assert.ok(firsts.size > 15, [...firsts].join(' '));
  for (const first of firsts) assert.ok(first >= 0 && first < count);
});
