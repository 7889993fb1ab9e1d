import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forkNames, forkNote, madeFromNote, sharedLimit } from './fork.ts';

test('forks have names of their own, within the bound of a name', () => {
  const named = (name: string | undefined, count: number, taken: string[] = [], parent = 'Ada') =>
    forkNames(parent, { name, count, taken });
  assert.deepEqual(named(undefined, 2), ['Ada fork 1', 'Ada fork 2']);
  assert.deepEqual(named(undefined, 2, ['Ada fork 1', 'Ada fork 3']), ['Ada fork 2', 'Ada fork 4']);
  assert.deepEqual(named('Try', 1, ['Try']), ['Try']);
  assert.deepEqual(named('Try', 3, ['Try 2']), ['Try 1', 'Try 3', 'Try 4']);
  const long = named(undefined, 12, [], 'x'.repeat(100));
  assert.deepEqual([long[0]!.length, long[11]], [100, `${'x'.repeat(92)} fork 12`]);
  const pair = named(undefined, 1, [], `${'x'.repeat(92)}\u{1F600}${'y'.repeat(6)}`);
  assert.deepEqual(pair, [`${'x'.repeat(92)} fork 1`], 'no half of a letter is left');
});

test('a limit is parted among the parent and its forks, rounded down to the cent', () => {
  const limit = (dailyUsd: string | null, monthlyUsd: string | null) =>
    ({ dailyUsd, monthlyUsd, action: 'pause' }) as const;
  assert.deepEqual(sharedLimit(limit('10', '100.5'), 3), limit('3.33', '33.50'));
  assert.deepEqual(sharedLimit(limit(null, '0.129'), 2), limit(null, '0.06'));
  assert.deepEqual(sharedLimit(limit('0.01', null), 2), limit('0.01', null));
  assert.deepEqual(sharedLimit(limit('99999999999.99', null), 21), limit('4761904761.90', null));
  assert.equal(sharedLimit(null, 2), null);
});

test('the notes name the agent, quote its name, and fit the column', () => {
  const [parent, fork] = [
    { id: 'a'.repeat(12), name: '"'.repeat(100) },
    { id: 'b'.repeat(12), name: '\\'.repeat(100) },
  ];
  const note = forkNote(fork, parent, { nth: 20, count: 20 });
  assert.match(note, /^You are a fork, number 20 of 20, of the agent "/);
  assert.match(forkNote(fork, parent, { nth: 1, count: 1 }), /^You are a fork of the agent "/);
  for (const text of [note, madeFromNote(fork, parent.id)]) {
    assert.ok(text.includes(fork.id) && text.includes(parent.id));
    assert.ok(text.length <= 1000, String(text.length));
  }
});
