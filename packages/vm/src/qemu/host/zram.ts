/**
 * Swap in compressed memory (zram), set up where the operator asked for it and the host has no swap at all. It belongs to the
 * host from then on: it stays when Lodge ends, because VMs outlive Lodge and their pages lie there, and goes with the boot.
 *
 *   a device of the kernel -> algorithm -> size -> header of a swap area -> in use
 *
 * A kill between two steps leaves an empty device. The next start takes it again, because it has this size and no page.
 */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import { run } from '../network/commands.ts';
import { lock } from './lock.ts';
import { swapAreas } from './swap.ts';

const devices = '/sys/block';
const hotAdd = '/sys/class/zram-control/hot_add';
/** Before any swap on a disk that somebody adds later. */
const priority = 100;
const lockTimeoutMs = 10_000;
/** A header alone takes one page. */
const emptyBytes = 8192;

/** Sets it up unless the host has swap. A host that cannot is reported, and runs without. */
export async function setUpZram(mib: number, log: Pick<Log, 'info' | 'warn'>): Promise<void> {
  try {
    // Several Lodges of a host may start together.
    const unlock = await lock('zram', { timeoutMs: lockTimeoutMs });
    try {
      if ((await swapAreas()).length > 0) return;
      const name = await begin(mib * 2 ** 20);
      await run('mkswap', ['--label', 'lodge', `/dev/${name}`]);
      await run('swapon', ['--priority', String(priority), `/dev/${name}`]);
      log.info({ device: name, mib }, 'swap in compressed memory is set up');
    } finally {
      unlock();
    }
  } catch (error) {
    log.warn({ err: error, mib }, 'no swap in compressed memory: LODGE_ZRAM_MIB has no effect');
  }
}

/** Returns the name of a device of that size without pages. */
async function begin(bytes: number): Promise<string> {
  const names = await zramNames();
  const states = await Promise.all(names.map(stateOf));
  const left = states.find((state) => isLeft(state, bytes));
  if (left) return left.name;
  const name = states.find(({ size }) => size === 0)?.name ?? (await added());
  const folder = join(devices, name);
  const algorithm = algorithmOf(await readFile(join(folder, 'comp_algorithm'), 'utf8'));
  if (algorithm) await writeFile(join(folder, 'comp_algorithm'), algorithm);
  await writeFile(join(folder, 'disksize'), String(bytes));
  return name;
}

async function zramNames(): Promise<string[]> {
  const there = async (): Promise<string[]> => (await readdir(devices)).filter((name) => /^zram[0-9]+$/.test(name));
  const names = await there();
  if (names.length > 0 || (await ifThere(readdir('/sys/class/zram-control')))) return names;
  await run('modprobe', ['zram']);
  return there();
}

/** The kernel makes one more device for whoever reads this file. */
async function added(): Promise<string> {
  return `zram${(await readFile(hotAdd, 'utf8')).trim()}`;
}

interface ZramState {
  readonly name: string;
  /** Bytes; 0: not set up. */
  readonly size: number;
  /** Bytes that are stored there, before compression. */
  readonly stored: number;
}

async function stateOf(name: string): Promise<ZramState> {
  const read = async (file: string): Promise<string> => (await readFile(join(devices, name, file), 'utf8')).trim();
  return { name, size: Number(await read('disksize')), stored: Number((await read('mm_stat')).split(/\s+/)[0]) };
}

/** Whether a set-up that was cut off has left this device. */
export function isLeft({ size, stored }: Pick<ZramState, 'size' | 'stored'>, bytes: number): boolean {
  return size === bytes && stored <= emptyBytes;
}

/**
 * Returns the best of the algorithms that the kernel offers, as `comp_algorithm` lists them; null: its own choice. zstd takes
 * the least memory, and lz4 is the quickest.
 */
export function algorithmOf(offered: string): string | null {
  const names = offered.split(/\s+/).map((name) => name.replaceAll(/[[\]]/g, ''));
  return ['zstd', 'lz4'].find((name) => names.includes(name)) ?? null;
}
