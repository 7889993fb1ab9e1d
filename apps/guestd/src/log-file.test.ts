import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LogFile } from './log-file.ts';
import { until } from './testing.ts';

let folder = '';
before(() => {
  folder = mkdtempSync('/tmp/lodge-log-');
});
after(() => rmSync(folder, { recursive: true }));

const megabyte = 1024 * 1024;
const bytesIn = (path: string): number =>
  readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);

async function readAll(log: LogFile, offset: number): Promise<{ text: string; nextOffset: number }> {
  let text = '';
  for (let at = offset; ;) {
    const chunk = await log.read(at, 100_000);
    if (chunk.text === '') return { text, nextOffset: at };
    text += chunk.text;
    at = chunk.nextOffset;
  }
}

test('only whole lines are given, and a line longer than the limit in pieces', async () => {
  const log = new LogFile(join(folder, 'lines'));
  appendFileSync(log.current, 'one\ntwo\nthr');
  assert.deepEqual(await log.read(0, 1000), { text: 'one\ntwo\n', nextOffset: 8 });
  assert.deepEqual(await log.read(0, 6), { text: 'one\n', nextOffset: 4 });
  assert.deepEqual(await log.read(8, 1000), { text: '', nextOffset: 8 });
  assert.deepEqual(await log.read(8, 2), { text: 'th', nextOffset: 10 });
  assert.deepEqual(await log.read(5_000, 1000), { text: '', nextOffset: 11 });
});

test('a reader that follows a rotated log misses nothing, and the log stays bounded', async () => {
  const path = join(folder, 'rotated');
  const log = new LogFile(path);
  let seen = '';
  let at = 0;
  const lines = 80_000;
  for (let n = 0; n < lines; n += 1) {
    log.append(`line ${n} ${'x'.repeat(100)}`);
    if (n % 5_000 !== 0) continue;
    const chunk = await readAll(log, at);
    seen += chunk.text;
    at = chunk.nextOffset;
  }
  seen += (await readAll(log, at)).text;
  const numbers = [...seen.matchAll(/^line (\d+) /gm)].map((match) => Number(match[1]));
  assert.equal(numbers.length, lines);
  assert.ok(numbers.every((number, index) => number === index));
  assert.ok(bytesIn(path) < 6.5 * megabyte, `${bytesIn(path)} bytes are kept`);
  const late = await log.read(0, 1000);
  assert.match(late.text, /^line [1-9]\d+ /);
  assert.ok(late.nextOffset > megabyte, 'offsets do not start again');
});

test('what another process writes is rotated under it, and its later lines follow', async () => {
  const path = join(folder, 'foreign');
  const log = new LogFile(path);
  const watcher = log.watch();
  appendFileSync(log.current, `${'y'.repeat(99)}\n`.repeat(30_000));
  await until(() => statSync(log.current).size === 0);
  appendFileSync(log.current, 'after\n');
  watcher.close();
  assert.deepEqual(await log.read(3_000_000, 100), { text: 'after\n', nextOffset: 3_000_006 });
});
