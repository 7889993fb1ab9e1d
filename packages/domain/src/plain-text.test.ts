import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trimEndOf, withoutControlSequences } from './plain-text.ts';

test('what a terminal obeys is taken out, and what it shows stays', () => {
  for (const [text, shown] of [
    ['no sequence, ünïcode ✓ 😀', 'no sequence, ünïcode ✓ 😀'],
    ['\u001b[1;31mred\u001b[0m', 'red'],
    ['\u001b[?25l\u001b[38;2;1;2;3mx\u001b[2 q', 'x'],
    ['\u009b1mC1\u009b0m', 'C1'],
    ['\u001b]0;title\u0007prompt', 'prompt'],
    ['\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['\u009d0;title\u009cprompt', 'prompt'],
    ['\u001bPq#0;2\u001b\\after', 'after'],
    ['\u001b(Bcharset\u001bM', 'charset'],
    // Sequences without an end.
    ['\u001b]0;never ends', '0;never ends'],
    ['\u001b]0;cut by\u001b[1mred', '0;cut byred'],
    ['\u001b', ''],
    ['\u001b[', ''],
    ['a\u001b[12', 'a'],
    ['tab\tbell\u0007 stay', 'tab\tbell\u0007 stay'],
  ] as const)
    assert.equal(withoutControlSequences(text), shown);
});

test('only what stands at the end is trimmed', () => {
  assert.equal(trimEndOf('\r\na\r\nb\r\n\r', '\r\n'), '\r\na\r\nb');
  assert.equal(trimEndOf('\r\r', '\r'), '');
});

test('no text takes more than linear time', () => {
  const cpuMs = (text: string): number => {
    const before = process.cpuUsage();
    withoutControlSequences(text);
    trimEndOf(`${text}x`, '\r');
    return process.cpuUsage(before).user / 1_000;
  };
  const length = 1024 * 1024;
  for (const unit of [
    '\u001b];a',
    '\u001b]',
    '\u001b[;',
    '\u001b];'.padEnd(4_000, 'a'),
    '\u009d',
    ';a',
    '\r',
    '\u001b[1',
    '\u001bP;;',
  ]) {
    // It takes hundredths of a second. A pattern that begins anew at each introducer takes minutes.
    assert.ok(cpuMs(`\u001b]${unit.repeat(length / unit.length)}`) < 3_000, JSON.stringify(unit.slice(0, 10)));
  }
});
