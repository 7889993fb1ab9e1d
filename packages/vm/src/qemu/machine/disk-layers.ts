/** The disk of a running machine: puts a new layer on top, and shortens the chain beneath. */
import { chown, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { VmError } from '@lodge/ports';
import { diskBytes, writeOverlay } from '../saved/disks.ts';
import {
  chainOf,
  clearNext,
  freezeLayer,
  markNext,
  namedChain,
  newLayerName,
  nextOf,
  putOnTop,
  shortenAt,
  sweepLayers,
  topOf,
} from '../saved/layers.ts';
import { syncFile } from '../host/files.ts';
import { throwIfAborted, until } from '../../waiting.ts';
import { QmpError } from './qmp.ts';
import type { Qmp } from './qmp.ts';

interface Job {
  readonly id: string;
  readonly status: string;
  readonly error?: string;
}

interface BlockNode {
  readonly 'node-name': string;
  readonly drv: string;
  readonly ro: boolean;
  readonly file: string;
}

const streamTimeoutMs = 10 * 60_000;
const streamJob = 'shorten';

const nodesOf = (qmp: Qmp): Promise<readonly BlockNode[]> =>
  qmp.execute<readonly BlockNode[]>('query-named-block-nodes', { flat: true });

/** The node that the guest writes: QEMU has no other qcow2 file open for writing. */
async function writtenNode(qmp: Qmp): Promise<string> {
  const found = (await nodesOf(qmp)).filter((node) => node.drv === 'qcow2' && !node.ro);
  if (found.length !== 1) throw new VmError('failed', `QEMU writes ${found.length} disks`);
  return found[0]!['node-name'];
}

const nodeOf = (layer: string): string => basename(layer, '.qcow2');

/**
 * Puts an empty layer on top of the disk of a machine that stands still. Returns the layers that nobody writes from then on,
 * the former top first. Sources: QEMU's `blockdev-snapshot`, which flushes and reopens the former top for reading alone.
 */
export async function pushLayer(qmp: Qmp, disk: string, uid: number): Promise<readonly string[]> {
  const node = await writtenNode(qmp);
  const { layers } = await namedChain(disk);
  const name = newLayerName();
  const path = join(dirname(disk), name);
  try {
    await markNext(disk, name);
    await writeOverlay({ path, backing: basename(layers[0]!), bytes: await diskBytes(layers[0]!) });
    await chown(path, uid, uid);
    await syncFile(path);
    const file = { driver: 'file', filename: path, discard: 'unmap' };
    const format = { driver: 'qcow2', discard: 'unmap', 'detect-zeroes': 'unmap', file };
    const overlay = nodeOf(name);
    await qmp.execute('blockdev-add', { ...format, 'node-name': overlay, backing: null });
    await qmp.execute('blockdev-snapshot', { node, overlay });
  } finally {
    await settleLayers(qmp, disk);
  }
  if ((await topOf(disk)) !== path) throw new VmError('failed', `QEMU did not change to ${path}`);
  await freezeLayer(layers[0]!);
  return layers;
}

/** Makes the folder say what QEMU does, after a change of the top that may have been cut short. The machine stands still. */
export async function settleLayers(qmp: Qmp, disk: string): Promise<void> {
  const name = await nextOf(disk);
  if (name === null) return;
  // QEMU refuses to give up the node that the guest's disk has become, and gives up one that it only has opened.
  await qmp.execute('blockdev-del', { 'node-name': nodeOf(name) }).catch((error: unknown) => {
    if (!(error instanceof QmpError)) throw error;
  });
  const isTop = (await nodesOf(qmp)).some((node) => node['node-name'] === nodeOf(name));
  if (isTop) await putOnTop(disk, name);
  else await rm(join(dirname(disk), name), { force: true });
  await clearNext(disk);
}

/** Copies the layers of a deep chain into its top, while the guest may run. */
export async function shortenChain(qmp: Qmp, disk: string, signal: AbortSignal): Promise<void> {
  // QEMU goes on with what an earlier control plane began, and how that ended does not matter.
  await streamed(qmp, signal).catch(() => throwIfAborted(signal));
  await sweepLayers(disk);
  const chain = await chainOf(disk);
  if (!chain || chain.layers.length < shortenAt || chain.base === null) return;
  const base = (await nodesOf(qmp)).find(({ drv, file }) => drv === 'qcow2' && file === chain.base);
  if (!base) throw new VmError('failed', `QEMU does not have ${chain.base} open`);
  const device = await writtenNode(qmp);
  const between = { 'base-node': base['node-name'], 'backing-file': chain.base, 'auto-dismiss': false };
  await qmp.execute('block-stream', { 'job-id': streamJob, device, ...between });
  await streamed(qmp, signal);
  if ((await chainOf(disk))!.layers.length > 1) throw new VmError('failed', `the layers of ${disk} were not joined`);
  await sweepLayers(disk);
}

/** Waits for the job that joins layers, if there is one. One that is given up is cancelled. */
async function streamed(qmp: Qmp, signal: AbortSignal): Promise<void> {
  const find = async (): Promise<Job | undefined> =>
    (await qmp.execute<readonly Job[]>('query-jobs')).find(({ id }) => id === streamJob);
  const concluded = async (): Promise<Job | 'none' | null> => {
    const job = await find();
    if (job === undefined) return 'none';
    return job.status === 'concluded' ? job : null;
  };
  const wait = { what: 'a chain of layers shortened', everyMs: 20, timeoutMs: streamTimeoutMs, signal };
  const job = await until(concluded, wait).catch(async (error: unknown) => {
    await qmp.execute('job-cancel', { id: streamJob }).catch(() => undefined);
    throw error;
  });
  if (job === 'none') return;
  await qmp.execute('job-dismiss', { id: streamJob });
  if (job.error === undefined) return;
  const code = job.error.includes('No space left on device') ? 'disk_full' : 'failed';
  throw new VmError(code, `layers could not be joined: ${job.error}`);
}
