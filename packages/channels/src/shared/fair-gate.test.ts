import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairGate } from './fair-gate.ts';

test('names take turns, and one name has its share of the places alone', async () => {
  const gate = new FairGate(2, 1);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string): Promise<void> =>
    gate.through(name, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = [work('many'), work('many'), work('many'), work('one'), work('other')];
  assert.deepEqual(begun, ['many', 'one'], 'the second of a name waits, though there was a place');
  for (let ended = 0; ended < all.length; ended += 1) {
    ends[ended]!();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(all);
  assert.deepEqual(begun, ['many', 'one', 'many', 'other', 'many']);
});

test('work that fails gives its place back', async () => {
  const gate = new FairGate(1, 1);
  await assert.rejects(
    gate.through('a', () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await gate.through('a', () => Promise.resolve(1)), 1);
});
