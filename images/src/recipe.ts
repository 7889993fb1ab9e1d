/** Recipes are data: a folder with `recipe.json`, the files for the guest, and a lockfile for npm packages. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GuestProcessor } from '@lodge/ports';
import { ImageError } from './errors.ts';
import type { Replacement } from './replace.ts';

/** One layer of a guest's root file system. Paths in the guest begin with a slash. */
export interface Layer {
  readonly name: string;
  readonly folder: string;
  /** The layer below this one. Only a layer without it has `debian`, `nodeVersion` and `disk`. */
  readonly extends?: string;
  readonly debian?: DebianRecipe;
  /** Exact version of Node. npm's package of its binary goes into the guest. */
  readonly nodeVersion?: string;
  /** Debian packages that this layer adds to those of the lowest one. */
  readonly packages?: readonly string[];
  readonly npm?: NpmRecipe;
  readonly python?: PythonRecipe;
  readonly users?: readonly {
    readonly name: string;
    readonly id: number;
    readonly home: string;
    readonly shell: string;
  }[];
  readonly folders?: readonly { readonly path: string; readonly owner: string; readonly mode: string }[];
  readonly links?: Readonly<Record<string, string>>;
  /** Glob patterns, relative to the root, of the files to remove. */
  readonly drop?: readonly string[];
  readonly disk?: DiskRecipe;
}

export interface DebianRecipe {
  readonly suite: string;
  readonly packages: readonly string[];
  /** Package that depends on the current kernel, for each kind of processor. */
  readonly kernelPackage: Readonly<Record<GuestProcessor, string>>;
  /** Kernel modules of the initrd, in the order of loading. */
  readonly modules: readonly string[];
}

export interface NpmRecipe {
  /** Folder of the guest that gets `node_modules`. */
  readonly into: string;
  /** Glob patterns, relative to `node_modules`, of the files to remove. */
  readonly drop: readonly string[];
  readonly replace?: readonly Replacement[];
  /** Programs, relative to `node_modules`, that a package's own script would make executable. */
  readonly executable?: readonly string[];
}

export interface PythonRecipe {
  /** Version of Debian's Python, as in `3.11`. */
  readonly version: string;
  /** Folder of the guest that gets the packages. */
  readonly into: string;
  /** Glob patterns, relative to that folder, of the files to remove. */
  readonly drop: readonly string[];
  readonly replace?: readonly Replacement[];
}

export interface DiskRecipe {
  readonly sizeGib: number;
  readonly journalMib: number;
  /** Percentage of the disk that only root may fill, so the guest still works when the agent has filled it. */
  readonly reservedPercent: number;
}

/** Reads the layers of an image, lowest first. `folder` is the uppermost layer's, when it is not in `sourceDir`. */
export async function readLayers(
  sourceDir: string,
  name: string,
  folder: string = join(sourceDir, name),
): Promise<readonly [Layer, ...Layer[]]> {
  const layer = await readLayer(folder, name);
  return layer.extends === undefined ? [layer] : [...(await readLayers(sourceDir, layer.extends)), layer];
}

async function readLayer(folder: string, name: string): Promise<Layer> {
  try {
    if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new Error('not a name');
    const recipe = JSON.parse(await readFile(join(folder, 'recipe.json'), 'utf8')) as Omit<Layer, 'name' | 'folder'>;
    return { ...recipe, name, folder };
  } catch (error) {
    throw new ImageError(`there is no usable image recipe ${name} in ${dirname(folder)}`, { cause: error });
  }
}

/** Returns the required parts of the lowest layer, with the additions of the others. */
export function foundation(layers: readonly [Layer, ...Layer[]]): {
  readonly debian: DebianRecipe;
  readonly nodeVersion: string;
  readonly disk: DiskRecipe;
} {
  const { name, debian, nodeVersion, disk } = layers[0];
  if (!debian || nodeVersion === undefined || !disk) {
    throw new ImageError(`the image recipe ${name} lacks debian, nodeVersion or disk`);
  }
  const packages = [...debian.packages, ...layers.flatMap((layer) => layer.packages ?? [])];
  return { debian: { ...debian, packages }, nodeVersion, disk };
}
