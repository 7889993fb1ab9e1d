/**
 * The time between the call for a save and the moment when the VM stands still: a real QEMU without a machine, and a
 * guest's daemon.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { dialTo, guestClient, noCredential } from '@lodge/guest';
import { architecture } from '../machine/architecture.ts';
import { Qmp } from '../machine/qmp.ts';
import { runState } from './connections.ts';
import { agentFreezeMs } from './vm-guest.ts';
import { freezeAgent } from './vm-freeze.ts';

let folder: string;
let qemu: ChildProcess;
let qmp: Qmp;
let server: Server;
/** Calls to the guest, which never answers. */
const asked: string[] = [];

beforeEach(async () => {
  asked.length = 0;
  folder = await mkdtemp(join(tmpdir(), 'lodge-freeze-'));
  const socket = join(folder, 'qmp');
  const machine = ['-machine', 'none', '-nodefaults', '-display', 'none'];
  qemu = spawn(architecture.emulator, [...machine, '-qmp', `unix:${socket},server=on,wait=off`], { stdio: 'ignore' });
  qmp = await Qmp.connect(socket, { timeoutMs: 30_000 });
  server = createServer(({ url }) => asked.push(url!)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  qmp.close();
  qemu.kill('SIGKILL');
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

const work = (): Parameters<typeof freezeAgent>[0] => ({
  record: { agentId: 'agent0000001' },
  qmp,
  guest: guestClient({
    dial: dialTo('127.0.0.1'),
    port: (server.address() as AddressInfo).port,
    credential: noCredential,
    pace: 20,
  }),
  log: { debug() {}, info() {}, warn() {}, error() {} },
});

test('a VM that somebody paused, as the disk’s keeper does, is not let go on to be saved', async () => {
  await qmp.execute('stop');
  await freezeAgent(work(), AbortSignal.timeout(20_000));
  assert.deepEqual([(await runState(qmp)).status, asked], ['paused', []]);
});

test('the wait for a silent guest ends with its caller’s, and is bounded on the slowest host', async () => {
  assert.deepEqual([1, 3, 20].map(agentFreezeMs), [8_000, 24_000, 24_000]);
  const giveUp = new AbortController();
  const freezing = freezeAgent(work(), giveUp.signal);
  await once(server, 'request');
  giveUp.abort();
  await assert.rejects(freezing, { code: 'aborted' });
  assert.deepEqual(asked, ['/v1/freeze']);
});
