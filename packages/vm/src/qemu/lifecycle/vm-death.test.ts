/**
 * Promises of the parts that see a QEMU to its end, with a real one that has no machine: the test gives its console's text.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { VmDeath } from '@lodge/domain';
import { openCgroups } from '../host/cgroup.ts';
import { awaitExit, isAlive, readMark } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { architecture } from '../machine/architecture.ts';
import { Qmp } from '../machine/qmp.ts';
import { ExitWatch } from '../machine/watch.ts';
import { Witness } from '../machine/witness.ts';
import { RunDirectory } from '../saved/run-directory.ts';
import { deathOf } from './vm-death.ts';

const agentId = 'mortal';
const executionId = 'e1';
let folder: string;
let directory: RunDirectory;
let emulator: ChildProcess;
let process: ProcessMark;
let qmp: Qmp;
let witness: Witness;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-death-'));
  directory = new RunDirectory(folder, agentId);
  await directory.create();
  const socket = `unix:${directory.qmpSocket},server=on,wait=off`;
  const line = ['-machine', 'none', '-nodefaults', '-display', 'none', '-S', '-qmp', socket];
  emulator = spawn(architecture.emulator, [...line, '-chardev', 'ringbuf,id=console,size=65536'], { stdio: 'ignore' });
  process = readMark(emulator.pid!)!;
  qmp = await Qmp.connect(directory.qmpSocket, { timeoutMs: 20_000 });
  witness = new Witness({ directory, outOfMemoryKill: () => Promise.resolve(false) }, null);
  await witness.attend(qmp, process);
});
afterEach(async () => {
  qmp.close();
  emulator.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});
const prints = (data: string): Promise<unknown> => qmp.execute('ringbuf-write', { device: 'console', data });

test('whoever asks the moment it has ended is told what its watch has read of its console', async () => {
  await prints('its last words\n');
  assert.equal(await witness.readConsole(qmp), 'its last words\n');
  const watch = new ExitWatch({ warn: () => undefined });
  watch.add({ agentId, executionId, process, qmp, witness });
  const record = { version: 1, agentId, executionId, phase: 'running', from: 'clone', base: 'template' } as const;
  const machine = { vcpus: 1, memoryMib: 1024, diskGib: 1 };
  const rest = { machine, facts: null, templateId: 't', slot: 1, address: '10.0.0.1', process };
  await directory.write({ ...record, ...rest });
  emulator.kill('SIGKILL');
  await awaitExit(process, 10_000);
  const cgroups = await openCgroups('none', join(folder, 'no-cgroups'));
  const death = await deathOf({ state: 'dead' }, { directory, watch, cgroups });
  assert.deepEqual(death?.console, ['its last words']);
  watch.stop();
});

test('what an earlier control plane wrote of an end is kept: it has read the console, and nobody can again', async () => {
  const written: VmDeath = { code: 'guest_panic', detail: 'no init', console: ['Kernel panic'] };
  await directory.writeDeath(written);
  assert.equal(await witness.endIfOver({ qmp, process }, 'running'), false);
  assert.equal(await witness.endIfOver({ qmp, process }, 'shutdown'), true);
  assert.ok(!isAlive(process), 'it does not stand still for ever');
  assert.deepEqual(await witness.death(), written);
});

test('an end that was asked for is no death: nothing is written of it', async () => {
  witness.expectEnd();
  await qmp.execute('quit');
  await awaitExit(process, 10_000);
  await witness.death();
  assert.equal(await directory.readDeath(), null);
});
