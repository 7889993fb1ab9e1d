import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { qmpArgument } from '../src/qemu/machine/command-line.ts';
import { entries } from '../src/qemu/host/files.ts';
import { findProcesses } from '../src/qemu/host/process.ts';
import type { FoundProcess } from '../src/qemu/host/process.ts';
import { formOf } from '@lodge/testkit/forms';
import { baseImage } from './base-image.ts';
import type { Call, DriverHarness, Moment } from './harness.ts';
import {
  destroyHost,
  driverOf,
  holdingsOf,
  mountVms,
  newHostSettings,
  probeGuest,
  whileVmsAreFull,
} from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';
import { describeVmDriver } from './suite.ts';

/**
 * Milliseconds after the call began. For a suspend, after the guest is frozen and its pages are being written, because the
 * time until then depends on the machine's other work. A moment below 0 comes before that, while the guest's processes are
 * being frozen.
 */
const moments = (...ats: number[]): Moment[] => ats.map((at) => ({ name: `${at} ms`, at }));

async function openQemu(): Promise<DriverHarness> {
  const settings = await newHostSettings();
  await mountVms(settings);
  return {
    template: { image: await baseImage(), variant: 'suite' },
    driver: () => driverOf(settings),
    guest: (at) => probeGuest(settings, at),
    home: '/srv',
    killVm: (agentId) => killVm(settings, agentId),
    silence: async (agentId, is) => {
      for (const { pid } of await emulatorsOf(settings, agentId)) process.kill(pid, is ? 'SIGSTOP' : 'SIGCONT');
    },
    moments: {
      create: formOf({ short: moments(0, 60, 200), long: moments(0, 5, 15, 30, 60, 100, 200, 400) }),
      start: formOf({ short: moments(80, 300), long: moments(0, 30, 80, 120, 160, 200, 300, 500) }),
      suspend: formOf({ short: moments(-1, 0), long: moments(-1, 0, 3, 10, 25, 50, 80, 130) }),
      backUp: [...formOf({ short: moments(0), long: moments(-1, 0, 150) }), { name: 'its end', at: Infinity }],
    },
    killDuring: (call, { at }) => killDuring(settings, call, at),
    damageSnapshot: (agentId, part) => flipBit(join(settings.dataDir, 'vms', agentId, 'snapshot', part)),
    // There is room for the devices' state, and not for the memory.
    whileDiskIsFull: (work) => whileVmsAreFull(settings, 4 << 20, work),
    holdings: () => holdingsOf(settings),
    files: async (agentId) => (await entries(join(settings.dataDir, 'vms', agentId))).sort(),
    close: () => destroyHost(settings),
  };
}

async function killVm(settings: QemuHostSettings, agentId: string): Promise<void> {
  const [found] = await emulatorsOf(settings, agentId);
  if (!found) throw new Error(`no QEMU runs for ${agentId}`);
  process.kill(found.pid, 'SIGKILL');
  while ((await emulatorsOf(settings, agentId)).length > 0) await sleep(5);
}

function emulatorsOf({ dataDir }: QemuHostSettings, agentId: string): Promise<FoundProcess[]> {
  const argument = qmpArgument(join(dataDir, 'vms', agentId, 'qmp'));
  return findProcesses((candidate) => candidate === argument);
}

async function killDuring(settings: QemuHostSettings, call: Call, afterMs: number): Promise<void> {
  const script = fileURLToPath(new URL('call-and-die.ts', import.meta.url));
  const parameters = [script, JSON.stringify({ settings, call })];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    gone.then(() => Promise.reject(new Error('the control plane ended by itself'))),
  ]);
  if ((call.do === 'suspend' || call.do === 'backUp') && afterMs >= 0) {
    const folder = join(settings.dataDir, 'vms', call.agentId);
    const backup = `${folder}.aside`;
    const begun = [join(folder, 'snapshot.new', 'devices'), join(folder, 'snapshot'), backup];
    await oneOf(afterMs === Infinity ? [backup] : begun, gone);
  }
  if (afterMs > 0 && afterMs < Infinity) await sleep(afterMs);
  child.kill('SIGKILL');
  await gone;
}

/** Resolves once one of these exists and is not empty. */
async function oneOf(paths: readonly string[], gone: Promise<unknown>): Promise<void> {
  let ended = false;
  void gone.then(() => (ended = true));
  const isThere = (path: string): Promise<boolean> =>
    stat(path).then(
      ({ size }) => size > 0,
      () => false,
    );
  while (!(await Promise.all(paths.map(isThere))).includes(true)) {
    if (ended) throw new Error('the control plane ended by itself');
    await sleep(1);
  }
}

/** Flips a bit of the byte in the middle. */
async function flipBit(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const at = Math.floor((await file.stat()).size / 2);
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, at);
    byte[0]! ^= 1;
    await file.write(byte, 0, 1, at);
  } finally {
    await file.close();
  }
}

describeVmDriver('QEMU', openQemu);
