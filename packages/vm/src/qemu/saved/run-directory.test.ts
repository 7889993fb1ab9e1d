import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { passableFolder } from '../host/files.ts';
import { RunDirectory } from './run-directory.ts';
import type { VmRecord } from './run-directory.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-run-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const record: VmRecord = {
  version: 1,
  agentId: 'agent',
  executionId: 'e1',
  phase: 'creating',
  from: 'clone',
  base: 'template',
  facts: null,
  machine: { vcpus: 2, memoryMib: 4096, diskGib: 10 },
  templateId: 't-1',
  slot: 3,
  address: null,
  process: null,
};

test('a record is read as it was written, and one cut short is none', async () => {
  const directory = new RunDirectory(folder, 'agent');
  assert.equal(await directory.read(), null);
  await directory.write(record);
  assert.deepEqual(await directory.read(), record);
  await directory.write({ ...record, phase: 'running' });
  assert.equal((await directory.read())?.phase, 'running');
  assert.deepEqual(await readdir(directory.path), ['vm.json']);
  assert.equal((await stat(directory.record)).mode & 0o777, 0o600);
  await writeFile(directory.record, '{"version":1,');
  assert.equal(await directory.read(), null);
});

test('while QEMU starts its group may make a socket in the folder, and from then on nobody but root may', async () => {
  const uid = 2_000_000_001;
  const directory = new RunDirectory(folder, 'agent');
  await directory.write(record);
  await directory.open(uid);
  const opened = await stat(directory.path);
  assert.deepEqual([opened.uid, opened.gid, opened.mode & 0o777], [0, uid, 0o770]);
  await directory.seal();
  assert.equal((await stat(directory.path)).mode & 0o777, 0o710);
});

test('what is no agent id names no folder', () => {
  for (const id of ['', '..', '../x', 'a/b', 'A', 'a,b', 'x'.repeat(33)]) {
    assert.throws(() => new RunDirectory(folder, id), { name: 'VmError' }, id);
  }
});

test('a data folder too deep for a unix socket is refused in words', () => {
  assert.throws(() => new RunDirectory(join(folder, 'x'.repeat(90)), 'agent'), /shorter data folder/);
});

test('our own folder is opened for VMs to pass through; one above that is shut is named', async () => {
  const own = join(folder, 'own');
  await chmod(folder, 0o755);
  await mkdir(own, { mode: 0o700 });
  await passableFolder(own);
  assert.equal((await stat(own)).mode & 0o777, 0o701);
  await chmod(folder, 0o700);
  await assert.rejects(passableFolder(own), (error: Error) => error.message.includes(`cannot pass ${folder}:`));
  await assert.rejects(passableFolder('/tmp/with,comma'), /comma/);
});
