import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesIn } from './files.ts';

test('files are the targets of links and images below /workspace, each once, in order', () => {
  const text = `Done: [report](/workspace/out/report.pdf), ![chart](/workspace/chart.png "A chart") and once more
    [report](/workspace/out/report.pdf), [by URL](file:///workspace/a%20b.txt), [in brackets](</workspace/c d.txt>),
    [as chat models write it](sandbox:/workspace/e.csv).`;
  assert.deepEqual(filesIn(text), [
    '/workspace/out/report.pdf',
    '/workspace/chart.png',
    '/workspace/a b.txt',
    '/workspace/c d.txt',
    '/workspace/e.csv',
  ]);
});

test('nothing else is a file: web pages, other folders, ways out of the workspace, folders, plain words', () => {
  const targets = [
    'https://example.com/workspace/a',
    '/etc/passwd',
    '/workspace/../etc/passwd',
    '/workspace/%2e%2e/etc/passwd',
    '/workspace/a/..%2f..%2fetc/passwd',
    '/workspace//a',
    '/workspace/a/',
    '/workspace/',
    '/workspace/a%00b',
    '/workspace/%E0%A4%A',
    'file://host/workspace/a',
    `/workspace/${'a'.repeat(1_100)}`,
  ];
  for (const target of targets) assert.deepEqual(filesIn(`[x](${target})`), [], target);
  assert.deepEqual(filesIn('It is at /workspace/a.txt'), []);
});

test('there are 20 at most', () => {
  const text = Array.from({ length: 50 }, (_, index) => `[x](/workspace/${index})`).join(' ');
  assert.equal(filesIn(text).length, 20);
});

test('a text that was made to be slow is not', () => {
  const before = process.cpuUsage();
  for (const text of [']('.repeat(1e6), '](/workspace/'.repeat(1e6), '](</workspace/'.repeat(1e6)]) filesIn(text);
  assert.ok(process.cpuUsage(before).user < 2e6);
});
