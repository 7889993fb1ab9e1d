import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaTypeOf, safeName } from './file-names.ts';

test('a name has no way out of its folder, nothing invisible, and no dot in front', () => {
  for (const [given, wanted] of [
    ['report.pdf', 'report.pdf'],
    ['../../etc/passwd', 'etc_passwd'],
    ['..', 'file'],
    ['', 'file'],
    ['/', 'file'],
    ['.bashrc', 'bashrc'],
    ['a\\b\0c\u202egpj.exe', 'a_b_c_gpj.exe'],
    ['two  words\n.txt', 'two_words_.txt'],
    ['\ud800half.txt', '�half.txt'],
  ] as const) {
    assert.equal(safeName(given), wanted, JSON.stringify(given));
  }
});

test('a name is bounded in bytes and keeps its ending', () => {
  const name = safeName(`${'ä'.repeat(500)}.pdf`);
  assert.ok(Buffer.byteLength(name) <= 120);
  assert.equal(safeName(`${'é'.repeat(100)}.pdf`).slice(-4), '.pdf');
});

test('a name that was made to be slow is not', () => {
  const before = process.cpuUsage();
  for (const part of ['. ', '/../', '\0', '\ud800']) safeName(part.repeat(1e6));
  assert.ok(process.cpuUsage(before).user < 1e6);
});

test('a type is guessed by the ending alone', () => {
  assert.deepEqual(['a.PNG', 'a.tar.gz', 'a', 'a.toString', 'a.'].map(mediaTypeOf), [
    'image/png',
    'application/gzip',
    'application/octet-stream',
    'application/octet-stream',
    'application/octet-stream',
  ]);
});
