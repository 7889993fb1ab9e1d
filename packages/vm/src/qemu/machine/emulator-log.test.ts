import assert from 'node:assert/strict';
import { access, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { kill, spawnDetached } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { until } from '../../waiting.ts';
import { EmulatorLog, maxBytes } from './emulator-log.ts';

let folder: string;
let path: string;
let processes: ProcessMark[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-emulator-log-'));
  path = join(folder, 'qemu.log');
  processes = [];
});
afterEach(async () => {
  for (const mark of processes) await kill(mark);
  await rm(folder, { recursive: true });
});

/** Runs a script that prints, and waits until it has made the file of that name. */
async function printed(log: EmulatorLog, script: string, done: string): Promise<void> {
  const command = EmulatorLog.printing(['sh', '-c', `cd ${folder}; ${script}; sleep 60`]);
  processes.push(await spawnDetached(command, { descriptors: [log.fd] }));
  const isDone = (): Promise<true | null> =>
    access(join(folder, done)).then(
      () => true,
      () => null,
    );
  await until(isDone, { what: done, everyMs: 10, timeoutMs: 60_000 });
}

const lines = (count: number, word: string): string => `seq ${count} | sed 's/.*/${word} & ${'x'.repeat(80)}/' >&2`;

test('a guest that has QEMU print without end neither stops its QEMU nor fills the disk, whoever reads', async () => {
  const log = await EmulatorLog.create(path);
  // The output exceeds the pipe, and nobody empties it.
  await printed(log, `${lines(50_000, 'virtio-blk')}; touch over`, 'over');
  await log.collect();
  assert.ok((await stat(path)).size <= 65_536);
  assert.match(await readFile(path, 'utf8'), /^virtio-blk 1 x/);
  for (let round = 0; round < 12; round += 1) {
    await printed(log, `${lines(600, `round${round}`)}; touch over${round}`, `over${round}`);
    await log.collect();
    assert.ok((await stat(path)).size <= maxBytes);
  }
  const kept = await readFile(path, 'utf8');
  assert.match(kept, /^round\d+ \d+ x/, 'the first line is a whole one');
  assert.match(kept, /round11 600 x+\n$/);
  assert.doesNotMatch(kept, /round0 /);
  assert.match(await log.tail(), /round11 600 x+$/);
  assert.ok((await log.tail()).length <= 1024);
  await log.close();
});

test('what a QEMU printed last is in the file when its connection ends, and a later control plane reads on', async () => {
  const started = await EmulatorLog.create(path);
  await printed(
    started,
    'echo first >&2; touch first; while [ ! -e go ]; do sleep 0.02; done; echo second >&2; touch second',
    'first',
  );
  const ended = Promise.withResolvers<void>();
  started.follow({ closed: ended.promise });
  ended.resolve();
  const holds = (text: string) => async (): Promise<true | null> =>
    (await readFile(path, 'utf8')) === text ? true : null;
  await until(holds('first\n'), { what: 'the first line', everyMs: 5, timeoutMs: 10_000 });
  const found = await EmulatorLog.find(path);
  assert.ok(found);
  await writeFile(join(folder, 'go'), '');
  const second = async (): Promise<true | null> => (await found.collect(), holds('first\nsecond\n')());
  await until(second, { what: 'the second line', everyMs: 5, timeoutMs: 10_000 });
  await found.close();
});

test('what every QEMU says and means nothing is no last word', async () => {
  const log = await EmulatorLog.create(path);
  const warning = 'Number of hotpluggable cpus requested (4) exceeds the recommended cpus supported by KVM (2)';
  await printed(log, `echo 'it failed' >&2; echo 'qemu: warning: ${warning}' >&2; touch said`, 'said');
  assert.equal(await log.tail(), 'it failed');
  assert.match(await readFile(path, 'utf8'), /supported by KVM/, 'the file keeps all');
  await log.close();
});

test('a file that grew before is cut, one that is gone is not made again, and a QEMU without a pipe has no log', async () => {
  assert.equal(await EmulatorLog.find(path), null);
  const log = await EmulatorLog.create(path);
  await truncate(path, 2 ** 40);
  await printed(log, 'echo after >&2; touch after', 'after');
  await log.collect();
  assert.equal(await readFile(path, 'utf8'), 'after\n');
  await rm(path);
  await printed(log, 'echo again >&2; touch again', 'again');
  assert.equal(await log.tail(), 'after\nagain');
  await assert.rejects(access(path));
  await log.close();
});
