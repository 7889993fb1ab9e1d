/** Promises of the parent of a VM's process. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { constants, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { awaitExit, isAlive, readMark } from './process.ts';
import { awaitEnd, readEnd, spawnReaped } from './reaper.ts';
import type { Reaped } from './reaper.ts';

const run = promisify(execFile);
let folder: string;
let exitFile: string;
let output: FileHandle;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-reaper-'));
  exitFile = join(folder, 'exit');
  await run('mkfifo', [join(folder, 'pipe')]);
  output = await open(join(folder, 'pipe'), constants.O_RDWR | constants.O_NONBLOCK);
});
afterEach(async () => {
  await output.close();
  await rm(folder, { recursive: true });
});
const start = (...command: readonly string[]): Promise<Reaped> =>
  spawnReaped(command, { exitFile, output: output.fd, input: null });

test('the end of a process is written down: its code or its signal', async () => {
  const ends = [
    ['sleep 0.05; exit 0', { code: 0, signal: null }],
    ['sleep 0.05; exit 3', { code: 3, signal: null }],
    ['sleep 0.05; kill -SEGV $$', { code: null, signal: 11 }],
    ['sleep 0.05; kill -KILL $$', { code: null, signal: 9 }],
  ] as const;
  for (const [script, end] of ends) {
    const process = await start('sh', '-c', script);
    await awaitExit(process, 10_000);
    assert.deepEqual(await awaitEnd(exitFile), { ...end, words: '' }, script);
  }
});

test('while it runs nothing is told, and what it was given is what it has', async () => {
  const file = join(folder, "it's here; $(exit)");
  const process = await start(
    'sh',
    '-c',
    'echo "$1 $(ls /proc/self/fd | tr "\\n" " ")" > "$1"; exec sleep 60',
    'sh',
    file,
  );
  while (!(await readFile(file, 'utf8').catch(() => '')).endsWith('\n')) await new Promise(setImmediate);
  const report = await readFile(file, 'utf8');
  assert.ok(report.startsWith(`${file} `), report);
  const descriptors = report.slice(file.length).trim().split(' ');
  // The standard descriptors, and the folder that `ls` reads; nothing of this process. Descriptors from a test runner have
  // higher numbers.
  const low = descriptors.filter((number) => Number(number) < 10);
  assert.deepEqual(low.sort(), ['0', '1', '2', '3']);
  assert.equal(await readEnd(exitFile), null);
  globalThis.process.kill(process.pid, 'SIGKILL');
  assert.equal((await awaitEnd(exitFile))?.signal, 9);
  const reaper = readMark(process.reaperPid);
  if (reaper) await awaitExit(reaper, 10_000);
});

test('one that has ended before anybody looks is told of, too', async () => {
  for (let round = 0; round < 5; round += 1) {
    const process = await start('sh', '-c', 'exit 4');
    await awaitExit(process, 10_000);
    assert.equal((await awaitEnd(exitFile))?.code, 4);
  }
});

test('last words that nobody read are kept with the end, where it was not a good one', async () => {
  await start('sh', '-c', 'sleep 0.05; echo read by nobody; exit 1');
  assert.deepEqual(await awaitEnd(exitFile), { code: 1, signal: null, words: 'read by nobody\n' });
  await start('sh', '-c', 'sleep 0.05; echo fine; exit 0');
  assert.equal((await awaitEnd(exitFile))?.words, '');
});

test('a reaper that is gone has nobody told, and takes nothing with it', async () => {
  const process = await start('sleep', '60');
  globalThis.process.kill(process.reaperPid, 'SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(isAlive(process));
  globalThis.process.kill(process.pid, 'SIGKILL');
  await awaitExit(process, 10_000);
  assert.equal(await awaitEnd(exitFile), null);
});

test('a file that is torn, or is none, tells nothing', async () => {
  assert.equal(await readEnd(join(folder, 'absent')), null);
  for (const text of ['', '13', '        ', 'no end\n']) {
    await writeFile(exitFile, text);
    assert.equal(await readEnd(exitFile), null, text);
  }
});
