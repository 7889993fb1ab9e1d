import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketRecord, figuresRecord, toCsv } from './usage-record.ts';

const none = {
  runningSeconds: 0,
  pausedSeconds: 0,
  stoppedSeconds: 0,
  vcpuSeconds: 0,
  cpuSeconds: 0,
  memoryGbSeconds: 0,
  storageGbSeconds: 0,
  requests: 1,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  unpricedRequests: 0,
  estimatedRequests: 0,
  egressBytes: 0,
  computeUsd: '0',
  llmUsd: '0',
  storageUsd: '0',
  totalUsd: '0',
};
const bounds = [new Date('2026-11-21T00:00:00Z'), new Date('2026-11-22T00:00:00Z')];
const groupsIn = (csv: string): string[] =>
  [...csv.matchAll(/Z,2026[^,]*Z,("(?:[^"]|"")*"|[^,]*),/g)].map(([, cell]) => cell!);

test('a model is named by the guest: its name is never a formula for the program that opens the table', () => {
  const names = ['=HYPERLINK("http://evil.example")', '+1', '-1+cmd', '@SUM(A1)', '\t=1', '\r=1', 'gpt-5', 'a,b'];
  const buckets = names.map((group) => bucketRecord({ ...none, bucket: 0, group }, bounds));
  assert.deepEqual(groupsIn(toCsv(buckets, figuresRecord(none))), [
    `"'=HYPERLINK(""http://evil.example"")"`,
    "'+1",
    "'-1+cmd",
    "'@SUM(A1)",
    "'\t=1",
    `"'\r=1"`,
    'gpt-5',
    '"a,b"',
  ]);
});
