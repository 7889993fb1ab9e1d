/**
 * Memory, disk and times of machines with and without a browser, with the smallest guest:
 *
 *   node benchmarks/browser.ts [--clones 6]
 *
 * It runs as root, on a host with QEMU. Image, template and the browser's disk are made where the cache lacks them.
 */
import { once } from 'node:events';
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sizes } from '@lodge/domain';
import type { SizeName } from '@lodge/domain';
import { dialTo, guestClient } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import { createBrowserDiskBuilder, createImageBuilder } from '@lodge/images';
import type { Template, Vm } from '@lodge/ports';
import { createHostNetwork, createQemuDriver } from '@lodge/vm';
import { cacheDir } from './bare-machine.ts';
import { median, millis, seconds, table } from './figures.ts';

const { values } = parseArgs({ options: { clones: { type: 'string', default: '6' } } });
const clones = Number(values.clones);
const never = new AbortController().signal;
const log = { debug() {}, info() {}, warn() {}, error: console.error };
const dataDir = await mkdtemp(join(tmpdir(), 'lodge-browser-'));
// VMs run as separate users, who must be able to pass the folder.
await chmod(dataDir, 0o711);
const network = createHostNetwork({
  instance: 'browser',
  range: '10.253.0.0/20',
  brokerPort: 4000,
  resolver: null,
  log: () => undefined,
});
const disk = createBrowserDiskBuilder({ cacheDir, log });
const driver = createQemuDriver({
  dataDir,
  cacheDir,
  instance: 'browser',
  network,
  brokerPort: 4000,
  accelerator: 'auto',
  diskFloorMib: 512,
  uidBase: 2_050_000_000,
  browserDisk: disk,
  unboundMemory: 'allow',
  log,
});

/** Long enough for a guest to be idle. */
const settleMs = 10_000;

await driver.start();
try {
  const template = await baseTemplate();
  const rows = await memoryOfClones(template);
  const browser = await measureBrowser(template);
  console.log(`${table(['memory of a small machine (PSS), MiB', 'median', 'least', 'most'], rows)}\n`);
  console.log(table(['one medium machine', ''], browser));
} finally {
  for (const { agentId } of await driver.list()) await driver.remove(agentId, { keepDisk: false });
  await driver.stop();
  await network.teardown();
  await rm(dataDir, { recursive: true, force: true });
}

async function baseTemplate(): Promise<Template> {
  const progress = (): void => undefined;
  const image = await createImageBuilder({ cacheDir, log }).ensure('base', progress, never);
  const prepare = () => Promise.resolve({});
  return driver.buildTemplate({ image, variant: 'browser-benchmark', brokerPort: 4001, progress, prepare }, never);
}

function clone(template: Template, agentId: string, size: SizeName): Promise<Vm> {
  return driver.create({ agentId, executionId: 'e1', machine: sizes[size], template, from: 'clone' }, never);
}

async function memoryOfClones(template: Template): Promise<(readonly string[])[]> {
  const ids = Array.from({ length: clones }, (_, index) => `clone-${index}`);
  for (const id of ids) await clone(template, id, 'small');
  const before = await memoryRow('that nobody asked for a browser', ids);
  for (const id of ids) await shown(id);
  const after = await memoryRow('that sees the disk of the browser', ids);
  for (const id of ids) await driver.remove(id, { keepDisk: false });
  return [before, after];
}

async function memoryRow(what: string, ids: readonly string[]): Promise<readonly string[]> {
  await sleep(settleMs);
  const mib = await Promise.all(ids.map(async (id) => (await driver.usage(id))!.memoryMib));
  return [what, median(mib).toFixed(1), Math.min(...mib).toFixed(1), Math.max(...mib).toFixed(1)];
}

async function shown(agentId: string): Promise<void> {
  for (;;) {
    const { state, message } = await driver.showBrowser(agentId, 'e1');
    if (state === 'shown') return;
    if (state !== 'building') throw new Error(`the disk of the browser is not there: ${message ?? state}`);
    await sleep(1000);
  }
}

async function measureBrowser(template: Template): Promise<(readonly string[])[]> {
  const vm = await clone(template, 'browses', 'medium');
  await shown('browses');
  const guest = guestOf(vm);
  await sleep(settleMs);
  const idle = await usage(guest);
  await guest.browser.put(true);
  const first = await timeToAnswer(guest);
  await sleep(settleMs);
  const browsing = await usage(guest);
  await guest.browser.put(false);
  await guest.browser.put(true);
  const second = await timeToAnswer(guest);
  const { path } = (await disk.find())!;
  return [
    ['from the start of Chromium until it answers, first and second, s', `${seconds(first)}, ${seconds(second)}`],
    ['memory of the machine before and with Chromium and an empty page (PSS), MiB', `${idle.host}, ${browsing.host}`],
    ['of the guest, in use, MiB', `${idle.guest}, ${browsing.guest}`],
    ["room of the agent's own disk, MiB", `${idle.disk}, ${browsing.disk}`],
    ['room of the disk that all machines share, MiB', millis(((await stat(path)).blocks * 512) / 2 ** 20)],
  ];
}

function guestOf({ agentId, address }: Vm): GuestClient {
  const { pace } = driver;
  return guestClient({ dial: dialTo(address), credential: () => driver.guestCredential(agentId, address), pace });
}

async function usage(guest: GuestClient): Promise<Readonly<Record<'host' | 'guest' | 'disk', string>>> {
  const { memoryMib, diskMib } = (await driver.usage('browses'))!;
  const { memoryTotalMib, memoryAvailableMib } = await guest.health();
  const inUse = memoryTotalMib - memoryAvailableMib!;
  return { host: memoryMib.toFixed(0), guest: inUse.toFixed(0), disk: diskMib.toFixed(0) };
}

async function timeToAnswer(guest: GuestClient): Promise<number> {
  const started = performance.now();
  const connection: Duplex = await guest.browser.openCdp({ start: true }, { timeoutMs: 300_000 });
  const asked = request({ createConnection: () => connection, path: '/json/version', headers: { host: 'localhost' } });
  asked.end();
  const [response] = (await once(asked, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
  if (response.statusCode !== 200) throw new Error(`Chromium answers with ${response.statusCode}`);
  connection.destroy();
  return performance.now() - started;
}
