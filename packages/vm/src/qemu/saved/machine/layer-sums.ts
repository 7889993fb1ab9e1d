/** Sums of the layers of saved machines' disks. */
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { sumsOf } from '../sums.ts';
import { damagedSaved } from './manifest.ts';
import type { SavedLayer } from './manifest.ts';

/** Sums that were computed here stay known: a layer is in many saved machines. */
const mostKnown = 10_000;

export class LayerSums {
  private readonly known = new Map<string, string>();

  /** The facts of layers that nobody writes any more. */
  async of(layers: readonly string[]): Promise<SavedLayer[]> {
    const marks = await Promise.all(layers.map(markOf));
    const known = marks.map(({ key }) => this.known.get(key));
    const unknown = layers.filter((_, index) => known[index] === undefined);
    const computed = await sumsOfLayers(unknown);
    const sums = layers.map((path, index) => known[index] ?? computed[unknown.indexOf(path)]!);
    if (this.known.size > mostKnown) this.known.clear();
    return layers.map((path, index) => {
      const { key, mark, bytes } = marks[index]!;
      this.known.set(key, sums[index]!);
      return { name: basename(path), bytes, mark, sum: sums[index]! };
    });
  }
}

/** The facts of layers that an earlier release wrote: to read all of them would delay the start of this one. */
export const unreadLayers = (layers: readonly string[]): Promise<SavedLayer[]> =>
  Promise.all(
    layers.map(async (path) => {
      const { mark, bytes } = await markOf(path);
      return { name: basename(path), bytes, mark, sum: null };
    }),
  );

/** Rejects with `saved_damaged`. Layers of more than `upTo` bytes are read only if they were written since. */
export async function assertLayers(folder: string, layers: readonly SavedLayer[], upTo: number): Promise<void> {
  const toRead: SavedLayer[] = [];
  for (const layer of layers) {
    const found = await markOf(join(folder, layer.name)).catch(() => null);
    if (found?.bytes !== layer.bytes) throw damagedSaved(`its layer ${layer.name}`);
    if (layer.sum === null && found.mark !== layer.mark) throw damagedSaved(`its layer ${layer.name}`);
    if (layer.sum !== null && (layer.bytes <= upTo || found.mark !== layer.mark)) toRead.push(layer);
  }
  const sums = await sumsOfLayers(toRead.map(({ name }) => join(folder, name)));
  toRead.forEach((layer, index) => {
    if (sums[index] !== layer.sum) throw damagedSaved(`its layer ${layer.name}`);
  });
}

async function markOf(path: string): Promise<{ readonly mark: string; readonly key: string; readonly bytes: number }> {
  const { size, mtimeNs, ino, birthtimeNs } = await stat(path, { bigint: true });
  const mark = `${size}:${mtimeNs}`;
  return { mark, key: `${ino}:${birthtimeNs}:${mark}`, bytes: Number(size) };
}

async function sumsOfLayers(paths: readonly string[]): Promise<readonly string[]> {
  return sumsOf(paths, 'layers').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw damagedSaved('a layer is gone');
    throw error;
  });
}
