import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineCleaner, LineSplitter, plainText } from './lines.ts';

test('what steers a terminal is taken out, and what stands at the end of a line stays', () => {
  for (const [line, plain] of [
    ['\u001b[1;31mred\u001b[0m text', 'red text'],
    ['\u001b]0;title\u0007prompt', 'prompt'],
    ['\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['10%\r50%\r100% done\r', '100% done'],
    ['a\u0008b\u0000c\u0085\td', 'abc\td'],
    ['\u001b(Bcharset\u001bM', 'charset'],
    ['evil\u202etxt.exe', 'eviltxt.exe'],
    ['plain ünïcode ✓ 😀  ', 'plain ünïcode ✓ 😀'],
  ] as const)
    assert.equal(plainText(line), plain);
});

test('a secret that colours break up is seen', () => {
  const line = `token is sk-${'a1B2'.repeat(4)}\u001b[0m${'c3D4'.repeat(6)}`;
  assert.equal(new LineCleaner().clean(line), 'token is [redacted]');
});

test('long lines are cut, not in the midst of a secret, and empty ones are nothing', () => {
  const cleaner = new LineCleaner();
  assert.equal(cleaner.clean('y'.repeat(100_000))!.length, 4_000);
  const key = `sk-${'a1B2'.repeat(10)}`;
  assert.ok(!cleaner.clean(`${key} `.repeat(2_000))!.includes('a1B'));
  const front = cleaner.clean(`sk-${'a1B2'.repeat(3_990)} ${'x'.repeat(20)} password is hunter2hunter2`)!;
  assert.ok(front.startsWith('[redacted] ') && !front.includes('hunter'), front);
  assert.equal(cleaner.clean('y z '.repeat(25_000))!.length, 4_000);
  assert.equal(cleaner.clean(' \u001b[0m '), null);
});

test('lines come out whole, however they were cut up', () => {
  const splitter = new LineSplitter();
  assert.deepEqual(splitter.push('a\nb'), ['a']);
  assert.deepEqual(splitter.push(''), []);
  assert.deepEqual(splitter.push('c\n\nd'), ['bc', '']);
  assert.deepEqual(splitter.flush(), ['d']);
  assert.deepEqual(splitter.flush(), []);
  const endless = Array.from({ length: 100 }, () => splitter.push('x'.repeat(1_000))).flat();
  assert.ok(endless.every((line) => line.length <= 17_000) && endless.length > 4);
});
