import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { entries } from '../src/qemu/host/files.ts';
import { formOf } from '@lodge/testkit/forms';
import { baseImage } from './base-image.ts';
import type { SavedManifest } from '../src/qemu/saved/machine/manifest.ts';
import type { Call, DriverHarness, Moment, SavedPart } from './harness.ts';
import {
  destroyHost,
  driverOf,
  emulatorsOf,
  holdingsOf,
  mountVms,
  newHostSettings,
  probeGuest,
  whileVmsAreFull,
} from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';
import { describeVmDriver } from './suite.ts';
import { restOf } from '@lodge/ports';

/**
 * Milliseconds after the call began. For a save or a rest, after the guest is frozen and its pages are being written, because the
 * time until then depends on the machine's other work. A moment below 0 comes before that, while the guest's processes are
 * being frozen.
 */
const moments = (...ats: number[]): Moment[] => ats.map((at) => ({ name: `${at} ms`, at }));

const atItsEnd: Moment = { name: 'its end', at: Infinity };

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
      rest: [...formOf({ short: moments(-1, 0), long: moments(-1, 0, 3, 10, 25, 50, 80, 130) }), atItsEnd],
      save: [...formOf({ short: moments(0), long: moments(-1, 0, 3, 10, 25, 50, 80, 130, 200) }), atItsEnd],
    },
    killDuring: (call, { at }) => killDuring(settings, call, at),
    damageSaved: async (id, part) => flipBit(await partOf(join(settings.dataDir, 'saved', id), part)),
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

async function killDuring(settings: QemuHostSettings, call: Call, afterMs: number): Promise<void> {
  const script = fileURLToPath(new URL('call-and-die.ts', import.meta.url));
  const parameters = [script, JSON.stringify({ settings, call })];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    gone.then(() => Promise.reject(new Error('the control plane ended by itself'))),
  ]);
  if (afterMs >= 0) await oneOf(signsOf(settings, call, afterMs === Infinity), gone);
  if (afterMs > 0 && afterMs < Infinity) await sleep(afterMs);
  child.kill('SIGKILL');
  await gone;
}

/** The files that show that the call has frozen the guest, or that it has ended; none where its moments begin at once. */
function signsOf({ dataDir }: QemuHostSettings, call: Call, ended: boolean): readonly string[] {
  switch (call.do) {
    case 'save':
    case 'rest': {
      const id = call.do === 'save' ? call.request.id : restOf(call.agentId);
      const saved = join(dataDir, 'saved', id);
      return ended ? [saved] : [join(`${saved}.new`, 'devices'), saved];
    }
    case 'create':
    case 'start':
      return [];
  }
}

/** Resolves once one of these exists and is not empty, at once without any. */
async function oneOf(paths: readonly string[], gone: Promise<unknown>): Promise<void> {
  if (paths.length === 0) return;
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

/** The file of a saved machine's part. The manifest's first line is its sum. */
async function partOf(folder: string, part: SavedPart): Promise<string> {
  if (part === 'manifest' || part === 'devices' || part === 'listing') return join(folder, part);
  const [, json] = (await readFile(join(folder, 'manifest'), 'utf8')).split('\n');
  const { layers, memory } = JSON.parse(json!) as SavedManifest;
  const names = { pages: memory!.pages.file, 'top layer': layers[0]!.name, 'bottom layer': layers.at(-1)!.name };
  return join(folder, names[part]);
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
