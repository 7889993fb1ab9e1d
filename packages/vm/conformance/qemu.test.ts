import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { VmRequest } from '@lodge/engine/ports';
import { qmpArgument } from '../src/qemu/command-line.ts';
import { findProcesses } from '../src/qemu/process.ts';
import { baseImage } from './base-image.ts';
import type { DriverHarness } from './harness.ts';
import { destroyHost, driverOf, holdingsOf, newHostSettings, probeGuest } from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';
import { describeVmDriver } from './suite.ts';

async function openQemu(): Promise<DriverHarness> {
  const settings = await newHostSettings();
  return {
    template: { image: await baseImage(), variant: 'suite' },
    driver: () => driverOf(settings),
    guest: probeGuest,
    killVm: (agentId) => killVm(settings, agentId),
    moments: [0, 5, 15, 30, 60, 100, 200, 400].map((at) => ({ name: `${at} ms`, at })),
    killDuringCreate: (request, { at }) => killDuringCreate(settings, request, at),
    holdings: () => holdingsOf(settings),
    close: () => destroyHost(settings),
  };
}

async function killVm({ dataDir }: QemuHostSettings, agentId: string): Promise<void> {
  const argument = qmpArgument(join(dataDir, 'vms', agentId, 'qmp'));
  const [found] = await findProcesses((candidate) => candidate === argument);
  if (!found) throw new Error(`no QEMU runs for ${agentId}`);
  process.kill(found.pid, 'SIGKILL');
  while ((await findProcesses((candidate) => candidate === argument)).length > 0) await sleep(5);
}

async function killDuringCreate(settings: QemuHostSettings, request: VmRequest, afterMs: number): Promise<void> {
  const script = fileURLToPath(new URL('create-and-die.ts', import.meta.url));
  const parameters = [script, JSON.stringify({ settings, request })];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    gone.then(() => Promise.reject(new Error('the control plane ended by itself'))),
  ]);
  await sleep(afterMs);
  child.kill('SIGKILL');
  await gone;
}

describeVmDriver('QEMU', openQemu);
