/** The disk of a running machine: puts a new layer on top, and shortens the chain beneath. */
import { chown } from 'node:fs/promises';
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
import { until } from '../../waiting.ts';
import { QmpError } from './qmp.ts';
import type { Qmp } from './qmp.ts';

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
  await writeOverlay({ path, backing: basename(layers[0]!), bytes: await diskBytes(layers[0]!) });
  await chown(path, uid, uid);
  await syncFile(path);
  await markNext(disk, name);
  try {
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
  await clearNext(disk);
}

/** Copies the layers of a deep chain into its top, while the guest may run. */
export async function shortenChain(qmp: Qmp, disk: string, signal: AbortSignal): Promise<void> {
  const chain = await chainOf(disk);
  if (!chain || chain.layers.length < shortenAt || chain.base === null) return;
  const base = (await nodesOf(qmp)).find(({ drv, file }) => drv === 'qcow2' && file === chain.base);
  if (!base) throw new VmError('failed', `QEMU does not have ${chain.base} open`);
  const device = await writtenNode(qmp);
  const between = { 'base-node': base['node-name'], 'backing-file': chain.base };
  await qmp.execute('block-stream', { 'job-id': streamJob, device, ...between });
  try {
    const jobs = (): Promise<readonly { readonly id: string }[]> => qmp.execute('query-jobs');
    const ended = async (): Promise<true | null> => ((await jobs()).some(({ id }) => id === streamJob) ? null : true);
    await until(ended, { what: 'a chain of layers shortened', everyMs: 20, timeoutMs: streamTimeoutMs, signal });
  } catch (error) {
    await qmp.execute('job-cancel', { id: streamJob }).catch(() => undefined);
    throw error;
  }
  if ((await chainOf(disk))!.layers.length > 1) throw new VmError('failed', `the layers of ${disk} were not joined`);
  await sweepLayers(disk);
}
