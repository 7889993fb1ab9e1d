/**
 * Names artifacts by hashes over everything that decides their bytes, and over nothing else (no clock, no host except its
 * kind of processor).
 */
import { createHash } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { guestProcessor } from '@lodge/ports';
import { requirementsFile } from './python.ts';
import { foundation, type DebianRecipe, type Layer } from './recipe.ts';

/** The builder's files that decide an artifact's content, by kind of artifact. */
const builderFiles = {
  debian: ['debian.ts', 'debian-hook.sh', 'random.c', 'processor.ts'],
  npm: ['npm.ts', 'drop.ts', 'replace.ts', 'processor.ts'],
  python: ['python.ts', 'drop.ts', 'replace.ts', 'processor.ts'],
  browser: ['browser-disk.ts', 'tree.ts', 'drop.ts'],
  image: ['assemble.ts', 'disk.ts', 'guestd-bundle.ts', 'initrd.ts', 'tree.ts', 'drop.ts'],
} as const;

/** Hexadecimal digits of a name: 128 bits of the hash. */
const nameLength = 32;

export async function debianName(recipe: DebianRecipe): Promise<string> {
  return `debian-${await nameFor('debian', [JSON.stringify(recipe)])}`;
}

export async function npmName(layer: Layer): Promise<string> {
  return `npm-${await nameFor('npm', [JSON.stringify(layer.npm), ...(await contents(layer.folder, ['package.json', 'package-lock.json']))])}`;
}

export async function pythonName(layer: Layer, debian: DebianRecipe): Promise<string> {
  const parts = [JSON.stringify(layer.python), ...(await contents(layer.folder, [requirementsFile]))];
  return `python-${await nameFor('python', [...parts, await debianName(debian)])}`;
}

/**
 * Returns the image's id. It does not cover the versions of Debian packages, which are those that the host's sources offer
 * at build time.
 */
export async function imageId(layers: readonly [Layer, ...Layer[]], guestd: string): Promise<string> {
  const parts: string[] = [guestd];
  for (const layer of layers) {
    const { folder, ...recipe } = layer;
    parts.push(JSON.stringify(recipe), ...(await contents(folder, await filesOf(folder))));
    if (layer.debian) parts.push(await debianName(foundation(layers).debian));
    if (layer.npm) parts.push(await npmName(layer));
    if (layer.python) parts.push(await pythonName(layer, foundation(layers).debian));
  }
  return nameFor('image', parts);
}

/** Returns the id of the browser's disk. `period` counts on as time goes by: the packages of Debian are part of it so. */
export async function browserDiskId(layer: Layer, debian: DebianRecipe, period: number): Promise<string> {
  const { folder, ...recipe } = layer;
  const own = [JSON.stringify(recipe), ...(await contents(folder, await filesOf(folder)))];
  return nameFor('browser', [String(period), ...own, await debianName(debian)]);
}

async function nameFor(kind: keyof typeof builderFiles, parts: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const part of [guestProcessor, ...(await contents(import.meta.dirname, builderFiles[kind])), ...parts]) {
    // Its length before it keeps a part from passing for the end of the previous one.
    hash.update(`${Buffer.byteLength(part)}\n`).update(part);
  }
  return hash.digest('hex').slice(0, nameLength);
}

async function filesOf(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of glob('**/*', { cwd: folder, withFileTypes: true })) {
    if (entry.isFile()) files.push(join(entry.parentPath, entry.name).slice(folder.length + 1));
  }
  return files.sort();
}

async function contents(folder: string, names: readonly string[]): Promise<string[]> {
  return Promise.all(names.map(async (name) => `${name}\n${await readFile(join(folder, name), 'utf8')}`));
}
