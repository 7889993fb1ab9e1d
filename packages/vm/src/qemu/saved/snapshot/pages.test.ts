import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexEntries, isZeroPage, ownRuns, pageBytes, PageIndex, readingGroups } from './pages.ts';

const kinds = { absent: 0, own: 0x8180_0000, away: 0x4000_0000, file: 0xa000_0000, zeroPage: 0x8000_0000 };

function pagemap(...pages: (keyof typeof kinds)[]): Uint32Array {
  return Uint32Array.from(pages.flatMap((kind) => [0x1234, kinds[kind]]));
}

test('own pages are those present or swapped that are no file’s', () => {
  const map = pagemap('absent', 'own', 'away', 'file', 'own', 'file', 'file', 'zeroPage');
  assert.deepEqual(
    [...ownRuns(map, 100)],
    [
      { first: 101, count: 2 },
      { first: 104, count: 1 },
      { first: 107, count: 1 },
    ],
  );
  assert.deepEqual([...ownRuns(pagemap('file', 'absent'), 0)], []);
});

test('runs are read together over small gaps, and never more than fits', () => {
  const runs = [
    { first: 0, count: 3 },
    { first: 5, count: 1 },
    { first: 20, count: 9 },
  ];
  assert.deepEqual(
    [...readingGroups(runs, 2, 8)],
    [
      [
        { first: 0, count: 3 },
        { first: 5, count: 1 },
      ],
      [{ first: 20, count: 8 }],
      [{ first: 28, count: 1 }],
    ],
  );
});

test('an index lists what was added, joined where it joins, however much it is', () => {
  const index = new PageIndex();
  index.add(0, 2, false);
  index.add(2, 1, false);
  index.add(3, 4, true);
  index.add(7, 1, true);
  index.add(9, 1, false);
  assert.deepEqual(
    [...indexEntries(index.toWords())],
    [
      { first: 0, count: 3, isZero: false },
      { first: 3, count: 5, isZero: true },
      { first: 9, count: 1, isZero: false },
    ],
  );
  for (let page = 0; page < 50_000; page += 1) index.add(100 + page * 2, 1, page % 2 === 0);
  assert.equal(index.toWords().length, 2 * 50_003);
});

test('a page of zeros is told from one with a single bit set', () => {
  const words = new Int32Array((3 * pageBytes) / 4);
  words[2 * (pageBytes / 4) - 1] = 1;
  assert.deepEqual([isZeroPage(words, 0), isZeroPage(words, 1), isZeroPage(words, 2)], [true, false, true]);
});
