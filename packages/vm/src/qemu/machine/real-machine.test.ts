/** A real QEMU process reads the command line, without a network and without anything to boot. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { sizes } from '@lodge/domain';
import { overlayImage } from '../saved/disks.ts';
import { browserDiskBytes } from '@lodge/ports';
import { disksOf, exchangeZeroes } from './browser-device.ts';
import { qemuCommandLine } from './command-line.ts';
import { diskDevice, diskRate, requestBound, setDiskRate } from './disk-rate.ts';
import { plug } from './hotplug.ts';
import { Qmp } from './qmp.ts';

const mib = 2 ** 20;
/** Options that need more than QEMU itself. */
const left = ['-netdev', '-kernel', '-initrd', '-append'];
let folder: string;
let process: ChildProcess;
let qmp: Qmp;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-machine-'));
  const [disk, backing, qmpSocket] = ['disk', 'backing', 'qmp'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(backing, overlayImage({ backing: '', bytes: 64 * mib }));
  await writeFile(disk, overlayImage({ backing, bytes: 64 * mib }));
  const names = { kernel: '', initrd: '', tap: '', name: 'test' };
  const line = qemuCommandLine({
    ...names,
    disk,
    browser: { file: null },
    qmpSocket,
    accelerator: 'kvm',
    counterKhz: null,
    memory: null,
    credentialDigest: null,
    incoming: false,
    vcpus: 2,
  });
  const kept = line.filter((argument, index) => {
    const option = left.includes(argument) ? argument : line[index - 1]!;
    return !left.includes(option) && !argument.startsWith('virtio-net') && !line[index + 1]?.startsWith('virtio-net');
  });
  // This is the line for KVM, on a host that may have none: nothing runs, so another model and accelerator change nothing
  // here.
  const parameters = kept.slice(1).map((argument) => argument.replace(/^host\b/, 'max').replace(/^kvm$/, 'tcg'));
  process = spawn(kept[0]!, parameters, { stdio: ['ignore', 'ignore', 'inherit'] });
  const alive = (): boolean => process.exitCode === null;
  qmp = await Qmp.connect(qmpSocket, { timeoutMs: 30_000, alive });
});
afterEach(async () => {
  qmp.close();
  process.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

interface BlockInfo {
  readonly qdev: string;
  readonly inserted: Readonly<Record<string, unknown>>;
}
const requestLimits = (): Promise<Record<string, number>> =>
  qmp.execute('qom-get', { path: `/objects/${requestBound}`, property: 'limits' });
const disk = async (device = diskDevice): Promise<BlockInfo> => {
  const found = (await qmp.execute<BlockInfo[]>('query-block')).find(({ qdev }) => qdev.includes(`/${device}/`));
  assert.ok(found);
  return found;
};

test('with KVM no vCPU has nested virtualisation, from the start or plugged in', async () => {
  await plug(qmp, { vcpus: 4, memoryMib: 2048 });
  const cpus = await qmp.execute<{ 'qom-path': string }[]>('query-cpus-fast');
  assert.equal(cpus.length, 4);
  for (const { 'qom-path': path } of cpus) {
    for (const property of ['vmx', 'svm']) {
      assert.equal(await qmp.execute('qom-get', { path, property }), false, `${property} of ${path}`);
    }
  }
});

test('a disk is bound by its machine’s size, by requests and by bytes, and a change of size changes both', async () => {
  for (const size of [sizes.small, sizes.xlarge, sizes.medium]) {
    const { requestsPerSecond, mibPerSecond } = diskRate(size, 1);
    assert.ok(requestsPerSecond > 0 && mibPerSecond > 0);
    await setDiskRate(qmp, { requestsPerSecond, mibPerSecond }, disksOf(true));
    const { inserted } = await disk();
    assert.equal(inserted['drv'], 'throttle', 'every request passes the filter');
    assert.deepEqual([inserted['bps'], inserted['iops']], [mibPerSecond * mib, 0]);
    assert.equal((await disk('browser-device')).inserted['bps'], mibPerSecond * mib);
    const limits = await requestLimits();
    assert.deepEqual([limits['iops-total'], limits['bps-total']], [requestsPerSecond, 0]);
  }
  await setDiskRate(qmp, diskRate(sizes.small, 0), disksOf(true));
  assert.equal((await disk()).inserted['bps'], 0);
  assert.equal((await requestLimits())['iops-total'], 0);
});

/** A built disk, in all but its contents, and the file or driver below the browser's device. */
const builtDisk = async (): Promise<string> => {
  const path = join(folder, 'browser');
  await writeFile(path, '');
  await truncate(path, browserDiskBytes);
  return path;
};
const shown = async (): Promise<string> => JSON.stringify((await disk('browser-device')).inserted['file']);

test('a machine has zeroes where the browser’s disk will be, and the disk once it is exchanged for them, however often', async () => {
  const built = await builtDisk();
  assert.match(await shown(), /null-co/);
  const { mibPerSecond } = diskRate(sizes.small, 1);
  await setDiskRate(qmp, diskRate(sizes.small, 1), disksOf(true));
  for (const _ of [1, 2]) {
    await exchangeZeroes(qmp, built);
    assert.ok((await shown()).includes(built));
  }
  const { inserted } = await disk('browser-device');
  assert.deepEqual([inserted['ro'], inserted['drv'], inserted['bps']], [true, 'throttle', mibPerSecond * mib]);
});

test('an exchange that was cut off at any step is brought to its end', async () => {
  const built = await builtDisk();
  // The first ends before the second change, the second before the third, which is the last.
  for (const _ of [1, 2]) {
    let changes = 0;
    const dying = {
      execute(command: string, parameters?: Record<string, unknown>) {
        if (command.startsWith('blockdev-')) changes += 1;
        return changes > 1 ? Promise.reject(new Error('killed')) : qmp.execute(command, parameters);
      },
    } as unknown as Qmp;
    await assert.rejects(exchangeZeroes(dying, built), /killed/);
  }
  await exchangeZeroes(qmp, built);
  assert.ok((await shown()).includes(built));
  const nodes = await qmp.execute<{ 'node-name': string }[]>('query-named-block-nodes', { flat: true });
  assert.ok(!nodes.some((node) => node['node-name'] === 'browser-zeroes'), 'the zeroes are gone');
});
