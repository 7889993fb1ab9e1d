import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { architecture } from './architecture.ts';
import { Qmp, QmpError } from './qmp.ts';

let folder: string;
let socket: string;
let qemu: ChildProcess;

/** A QEMU without a machine: it speaks QMP and does nothing else. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-qmp-'));
  socket = join(folder, 'qmp');
  const parameters = [
    '-machine',
    'none',
    '-nodefaults',
    '-display',
    'none',
    '-S',
    '-qmp',
    `unix:${socket},server=on,wait=off`,
  ];
  qemu = spawn(architecture.emulator, parameters, { stdio: 'ignore' });
});
afterEach(async () => {
  qemu.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

test('commands are answered each to its caller, also many at once', async () => {
  const qmp = await Qmp.connect(socket, { timeoutMs: 10_000 });
  const [status, version] = await Promise.all([
    qmp.execute<{ status: string }>('query-status'),
    qmp.execute<{ qemu: { major: number } }>('query-version'),
  ]);
  assert.equal(status.status, 'prelaunch');
  assert.ok(version.qemu.major >= 7);
  qmp.close();
});

test('what QEMU refuses is an error with its class and words, and the connection goes on', async () => {
  const qmp = await Qmp.connect(socket, { timeoutMs: 10_000 });
  await assert.rejects(qmp.execute('no-such-command'), (error) => {
    assert.ok(error instanceof QmpError);
    assert.equal(error.errorClass, 'CommandNotFound');
    return /no-such-command/.test(error.message);
  });
  await qmp.execute('query-status');
  qmp.close();
});

test('events reach listeners until they leave', async () => {
  const qmp = await Qmp.connect(socket, { timeoutMs: 10_000 });
  const seen: string[] = [];
  const leave = qmp.onEvent(({ event }) => seen.push(event));
  await qmp.execute('cont');
  await qmp.execute('stop');
  assert.deepEqual(seen, ['RESUME', 'STOP']);
  leave();
  await qmp.execute('cont');
  assert.equal(seen.length, 2);
  qmp.close();
});

test('the end of QEMU ends the connection and every command under way', async () => {
  const qmp = await Qmp.connect(socket, { timeoutMs: 10_000 });
  process.kill(qemu.pid!, 'SIGSTOP');
  const waiting = assert.rejects(qmp.execute('query-status'), { name: 'VmError', code: 'failed' });
  qemu.kill('SIGKILL');
  await qmp.closed;
  await waiting;
  await assert.rejects(qmp.execute('query-status'), { code: 'failed' });
});

test('a command that is not answered has a deadline', async () => {
  const qmp = await Qmp.connect(socket, { timeoutMs: 10_000 });
  process.kill(qemu.pid!, 'SIGSTOP');
  await assert.rejects(qmp.execute('query-status', {}, { timeoutMs: 50 }), { name: 'VmError', code: 'timeout' });
  process.kill(qemu.pid!, 'SIGCONT');
  await qmp.execute('query-status');
  qmp.close();
});

test('connecting has a deadline: nobody listens, or another client holds the monitor', async () => {
  await assert.rejects(Qmp.connect(join(folder, 'nobody'), { timeoutMs: 30 }), { code: 'timeout' });
  const first = await Qmp.connect(socket, { timeoutMs: 10_000 });
  await assert.rejects(Qmp.connect(socket, { timeoutMs: 100 }), { code: 'timeout' });
  first.close();
  (await Qmp.connect(socket, { timeoutMs: 10_000 })).close();
});

test('connecting is given up once the process is known to be gone, or the caller leaves', async () => {
  const wait = { timeoutMs: 60_000, alive: () => false };
  await assert.rejects(Qmp.connect(join(folder, 'nobody'), wait), { code: 'failed' });
  const signal = AbortSignal.timeout(20);
  await assert.rejects(Qmp.connect(join(folder, 'nobody'), { timeoutMs: 60_000, signal }), { code: 'aborted' });
});
