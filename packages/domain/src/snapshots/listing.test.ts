import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lowest, fileChanges, listedFiles } from './listing.ts';
import type { ChangedFile, ListedFile } from './listing.ts';

const read = (text: string): ListedFile[] => [...listedFiles(text)].filter((file) => file !== null);
const pathsOf = (text: string): string[] => read(text).map(({ path }) => path);
const mapOf = (text: string) => new Map(read(text).map((file) => [file.path, file]));
const changes = (before: string, after: string): ChangedFile[] =>
  [...fileChanges(mapOf(before), mapOf(after))].filter((change) => change !== null);

test('a record is a path with its type, size and time', () => {
  assert.deepEqual(read('f 12 1700000000.1239876540 notes/to day.md\0d 4096 1.5 notes\0l 3 0 link\0p 0 0 pipe\0'), [
    { path: 'notes/to day.md', type: 'file', size: 12, modifiedMs: 1_700_000_000_123 },
    { path: 'notes', type: 'directory', size: 4096, modifiedMs: 1500 },
    { path: 'link', type: 'symlink', size: 3, modifiedMs: 0 },
    { path: 'pipe', type: 'other', size: 0, modifiedMs: 0 },
  ]);
});

test('a name may have newlines, spaces and control characters; it stays one path', () => {
  assert.deepEqual(pathsOf('f 1 0 a\nf 1 0 b\0f 1 0  two  spaces \0f 1 0 \u001b[31m\r\0'), [
    'a\nf 1 0 b',
    ' two  spaces ',
    '\u001b[31m\r',
  ]);
});

test('a record that is none is passed over, and so is a last one that was cut off', () => {
  const hostile = [
    '',
    'f',
    'f 1 0',
    'f 1 0 ',
    'f -1 0 a',
    'f 1e3 0 a',
    `f ${'9'.repeat(16)} 0 a`,
    'f 1 x a',
    'ff 1 0 a',
    'f 1 0 /etc/passwd',
    'f 1 0 ../up',
    'f 1 0 a/../b',
    'f 1 0 a//b',
    'f 1 0 a/',
    'f 1 0 ./a',
    'f 1 0 not\u{FFFD}utf8',
    'f 1 0 half\u{D800}',
    `f 1 0 ${'x'.repeat(4097)}`,
    `f 1 0 ${'x'.repeat(100_000)}`,
  ];
  assert.deepEqual(pathsOf(`${hostile.join('\0')}\0f 1 0 good\0f 1 0 cut of`), ['good']);
});

test('times are bounded to what a reply can say', () => {
  assert.deepEqual(
    read('f 1 -5 a\0f 1 999999999999 b\0').map(({ modifiedMs }) => new Date(modifiedMs).toISOString()),
    ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
  );
});

test('8 MiB of anything take linear time', () => {
  const began = performance.now();
  for (const piece of ['f', '\0', 'f 1 0 a\0', 'f 1 0 a/', ' ']) {
    for (const _ of listedFiles(piece.repeat((8 * 2 ** 20) / piece.length)));
  }
  assert.ok(performance.now() - began < 20_000);
});

test('a difference is a path that came, went, or has another type, size or time; a folder has neither of the last two', () => {
  const before = 'd 1 1 kept\0f 1 1 same\0f 1 1 size\0f 1 1 time\0f 1 1 type\0f 7 1 gone\0';
  const after = 'd 2 2 kept\0f 1 1 same\0f 2 1 size\0f 1 2 time\0l 1 1 type\0f 9 1 new\0d 5 1 folder\0';
  assert.deepEqual(changes(before, after), [
    { path: 'gone', change: 'removed', size: 7 },
    { path: 'size', change: 'changed', size: 2 },
    { path: 'time', change: 'changed', size: 1 },
    { path: 'type', change: 'changed', size: 1 },
    { path: 'new', change: 'added', size: 9 },
    { path: 'folder', change: 'added', size: 5 },
  ]);
  assert.deepEqual(changes(before, before), []);
});

test('the names that objects have by themselves are names like any other', () => {
  assert.deepEqual(changes('', 'f 1 0 __proto__\0f 1 0 constructor\0'), [
    { path: '__proto__', change: 'added', size: 1 },
    { path: 'constructor', change: 'added', size: 1 },
  ]);
});

test('the lowest are kept in their order, and it is said that there were more', () => {
  const lowest = new Lowest<string>(3, (name) => name);
  for (const name of ['f', 'b', 'e', 'a', 'g', 'd', 'c']) lowest.add(name);
  assert.deepEqual(lowest.take(), { items: ['a', 'b', 'c'], isCut: true });
  const few = new Lowest<string>(3, (name) => name);
  for (const name of ['b', 'a', 'c']) few.add(name);
  assert.deepEqual(few.take(), { items: ['a', 'b', 'c'], isCut: false });
});
