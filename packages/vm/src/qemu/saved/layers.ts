/**
 * A VM's disk is a chain of qcow2 files in its folder. The top one, which the guest writes, is `disk.qcow2`: a file, or a link
 * to one of the names below. Under it lie layers that are only read, down to one that lies over the template's disk.
 *
 *   disk.qcow2 -> disk-<c>.qcow2 ── disk-<b>.qcow2 ── disk-<a>.qcow2 ── <template>/disk.qcow2
 *
 * Layers name each other without a folder. So a chain holds in any folder that has all of its names, and saved machines and
 * VMs share layers by hard links: the file lives as long as somebody needs it. A file with two names is never written.
 *
 * `disk.next` stands while a running emulator changes to a new top: it alone knows then which one it writes to.
 */
import {
  chmod,
  chown,
  link,
  lstat,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { ifThere } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import { exists, syncFile } from '../host/files.ts';
import { backingOf } from './backing.ts';

export const diskName = 'disk.qcow2';
const nextName = 'disk.next';
const layerForm = /^disk-[0-9a-f]{12}\.qcow2$/;
/** Whether it is the name of a layer below the top. It is random, and the bytes of a layer never change. */
export const isLayer = (name: string): boolean => layerForm.test(name);

/** Layers of a disk at which it is shortened before another is added. */
export const shortenAt = 12;
/** Deeper chains are not made here: a file says something else than Lodge wrote. */
const deepest = 64;

export interface Chain {
  /** Absolute paths, the top first. */
  readonly layers: readonly string[];
  /** The disk beneath the last layer. */
  readonly base: string | null;
}

/** Returns null when there is no disk. */
export async function chainOf(disk: string): Promise<Chain | null> {
  if (!(await exists(disk))) return null;
  const layers = [await topOf(disk)];
  for (;;) {
    const backing = await backingOf(layers.at(-1)!);
    if (backing === null || isAbsolute(backing)) return { layers, base: backing };
    if (layers.length === deepest || backing !== basename(backing)) {
      throw new VmError('failed', `${disk} lies over ${backing}, which no disk of Lodge does`);
    }
    layers.push(join(dirname(disk), backing));
  }
}

/** The layer that lies over the template; the disk itself where there is no other. */
export async function bottomOf(disk: string): Promise<string> {
  return (await chainOf(disk))?.layers.at(-1) ?? disk;
}

/** The file behind `disk.qcow2`, by the name that its folder has for it. */
export async function topOf(disk: string): Promise<string> {
  const found = await lstat(disk);
  return found.isSymbolicLink() ? join(dirname(disk), basename(await readlink(disk))) : disk;
}

export const newLayerName = (): string => `disk-${randomBytes(6).toString('hex')}.qcow2`;

/** Gives the top a name by which a layer above it can name it, unless it has one, and returns that name. */
export async function nameTop(disk: string): Promise<string> {
  const top = await topOf(disk);
  if (basename(top) !== diskName) return basename(top);
  const given = (await namesHere(top)).find((name) => isLayer(name));
  if (given !== undefined) return given;
  const name = newLayerName();
  await link(top, join(dirname(disk), name));
  return name;
}

/** The names that its folder has for a file. */
async function namesHere(path: string): Promise<string[]> {
  const folder = dirname(path);
  const { ino } = await stat(path);
  const names: string[] = [];
  for (const name of await readdir(folder)) {
    const found = await ifThere(lstat(join(folder, name)));
    if (found?.isFile() && found.ino === ino) names.push(name);
  }
  return names;
}

/** The chain of a disk, whose top has a layer's name from then on. */
export async function namedChain(disk: string): Promise<Chain> {
  const chain = await chainOf(disk);
  if (!chain) throw new VmError('disk_missing', `${dirname(disk)} has no disk`);
  const name = await nameTop(disk);
  return { ...chain, layers: [join(dirname(disk), name), ...chain.layers.slice(1)] };
}

/** Makes the file of that name in the disk's folder the top, at once and for good. */
export async function putOnTop(disk: string, name: string): Promise<void> {
  const draft = `${disk}.new`;
  await rm(draft, { force: true });
  await symlink(name, draft);
  await rename(draft, disk);
  await syncFile(dirname(disk));
}

/** Makes a file one that is only read from now on. */
export async function freezeLayer(path: string): Promise<void> {
  await chown(path, 0, 0);
  await chmod(path, 0o444);
}

/** Whether another folder has the file too, so that nobody may write it. */
export async function isShared(path: string): Promise<boolean> {
  const { nlink } = await stat(path);
  return nlink > 1 && nlink > (await namesHere(path)).length;
}

/** Links all layers of a chain into another folder of the file system. */
export async function linkLayers(layers: readonly string[], folder: string): Promise<void> {
  for (const path of layers) await link(path, join(folder, basename(path)));
}

export const markNext = (disk: string, name: string): Promise<void> =>
  writeFile(join(dirname(disk), nextName), name, { mode: 0o600, flush: true });

/** The name of the top that an emulator was about to change to; null when none was. */
export async function nextOf(disk: string): Promise<string | null> {
  const name = await ifThere(readFile(join(dirname(disk), nextName), 'utf8'));
  if (name !== null && isLayer(name)) return name;
  // A full disk, or a kill, kept it from being written: nothing had begun.
  if (name !== null) await clearNext(disk);
  return null;
}

export const clearNext = (disk: string): Promise<void> => rm(join(dirname(disk), nextName), { force: true });

/** Removes the files of a disk at rest that its chain does not have. */
export async function sweepLayers(disk: string): Promise<void> {
  const folder = dirname(disk);
  const names = (await ifThere(readdir(folder))) ?? [];
  const strays = names.filter((name) => isLayer(name));
  if (strays.length === 0 && !names.includes(nextName)) return;
  const kept = new Set((await chainOf(disk))?.layers.map((path) => basename(path)));
  for (const name of strays) if (!kept.has(name)) await rm(join(folder, name), { force: true });
  for (const name of [nextName, `${diskName}.new`]) await rm(join(folder, name), { force: true });
}

/** Names of a folder's files that belong to a disk. */
export const isDiskFile = (name: string): boolean => name === diskName || isLayer(name);
