/** The host's swap: whether pages can go out, and the memory that the kernel takes for those that went. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ifThere } from '@lodge/domain';

export interface SwapArea {
  /** A device or a file, as the kernel names it. */
  readonly path: string;
  readonly totalKib: number;
  readonly usedKib: number;
}

/** Returns the areas that the kernel swaps to now. */
export async function swapAreas(root = '/'): Promise<readonly SwapArea[]> {
  const [, ...lines] = ((await ifThere(readFile(join(root, 'proc/swaps'), 'utf8'))) ?? '').trim().split('\n');
  return lines.map((line) => {
    const [path, , total, used] = line.split(/\s+/);
    return { path: path!, totalKib: Number(total), usedKib: Number(used) };
  });
}

export const isZram = ({ path }: Pick<SwapArea, 'path'>): boolean => /^zram[0-9]+$/.test(basename(path));

/**
 * Returns the memory that the kernel has for each byte in swap, 0 to 1: zram and zswap keep pages in memory, compressed. A
 * page on a disk takes none. The kernel does not tell whose page lies where, so all pages count alike.
 */
export async function memoryOfSwapped(root = '/'): Promise<number> {
  const areas = await swapAreas(root);
  const used = areas.reduce((sum, { usedKib }) => sum + usedKib * 1024, 0);
  if (used === 0) return 1;
  const held = await Promise.all(areas.filter(isZram).map((area) => zramBytes(area, root)));
  const compressed = held.reduce((sum, each) => sum + each, await zswapBytes(root));
  return Math.min(1, compressed / used);
}

/** Reads the third figure of a zram device, `mem_used_total`: its compressed pages and what their places waste. */
async function zramBytes({ path }: SwapArea, root: string): Promise<number> {
  const text = await ifThere(readFile(join(root, 'sys/block', basename(path), 'mm_stat'), 'utf8'));
  return Number(text?.trim().split(/\s+/)[2] ?? 0);
}

async function zswapBytes(root: string): Promise<number> {
  const text = await readFile(join(root, 'proc/meminfo'), 'utf8');
  return Number(/^Zswap:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}
