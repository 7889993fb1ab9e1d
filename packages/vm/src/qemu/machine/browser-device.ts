/**
 * The device of every machine that shows the browser's disk: read-only, of one size, the same file for all machines of the
 * host. Before the disk is built the device is all zeroes, so a machine does not change when somebody first wants a browser
 * (docs/adr/0080-a-browser.md):
 *
 *   device -> filter -> zeroes          a guest finds no browser
 *   device -> filter -> the built file  from the start, or exchanged below a running guest
 *
 * The filter counts its requests together with those of the agent's own disk.
 */
import { browserDiskBytes } from '@lodge/ports';
import { diskDevice, requestBound } from './disk-rate.ts';
import type { Qmp } from './qmp.ts';

/** The built disk's file, or null for zeroes. */
export interface BrowserBacking {
  readonly file: string | null;
}

/** By this the guest finds the device; `apps/guestd` looks for the same. */
export const browserSerial = 'lodge-browser';

const browserDeviceId = 'browser-device';
const disksWithout = [diskDevice];
const disksWith = [diskDevice, browserDeviceId];
/** The devices whose rate a machine's size bounds. */
export const disksOf = (hasBrowser: boolean): readonly string[] => (hasBrowser ? disksWith : disksWithout);

const filterNode = 'browser';
const zeroesNode = 'browser-zeroes';
const fileNode = 'browser-file';

export function browserDevice({ file }: BrowserBacking): string[] {
  const zeroes = { driver: 'null-co', 'node-name': zeroesNode, size: browserDiskBytes, 'read-zeroes': true };
  const below = file === null ? { ...zeroes, 'read-only': true } : opened(file);
  const filter = filterOver(below['node-name']);
  return [
    ['-blockdev', JSON.stringify(below)],
    ['-blockdev', JSON.stringify(filter)],
    // More queues than one would cost each machine memory, and a browser starts no faster.
    ['-device', `virtio-blk-pci,id=${browserDeviceId},drive=${filterNode},serial=${browserSerial},num-queues=1`],
  ].flat();
}

/**
 * Puts the file where the zeroes are. Its every step may have been done before. The caller's file is the one of an earlier
 * call that did not end.
 */
export async function exchangeZeroes(qmp: Qmp, file: string): Promise<void> {
  const nodes = await qmp.execute<readonly { readonly 'node-name': string }[]>('query-named-block-nodes', {
    flat: true,
  });
  const has = (node: string): boolean => nodes.some(({ 'node-name': name }) => name === node);
  if (!has(zeroesNode)) return;
  if (!has(fileNode)) await qmp.execute('blockdev-add', opened(file));
  await qmp.execute('blockdev-reopen', { options: [filterOver(fileNode)] });
  await qmp.execute('blockdev-del', { 'node-name': zeroesNode });
}

const opened = (filename: string) => ({ driver: 'file', 'node-name': fileNode, filename, 'read-only': true });

const filterOver = (file: string) => ({
  driver: 'throttle',
  'throttle-group': requestBound,
  'node-name': filterNode,
  'read-only': true,
  file,
});
