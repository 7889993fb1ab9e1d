/** The manifest of a saved machine: its SHA-256 in a line of its own, then JSON; 0600, for it holds secrets. */
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { Machine, RuntimeFacts } from '@lodge/ports';
import { entries, replaceFileForGood } from '../../host/files.ts';
import type { Plugged } from '../../machine/hotplug.ts';
import type { SavedOn } from '../../machine/saved-on.ts';
import type { MemoryBase, SavedPages } from '../snapshot/page-job.ts';

export interface SavedLayer {
  readonly name: string;
  readonly bytes: number;
  /** `size:mtime in ns` of the file. */
  readonly mark: string;
  /** See `sums.ts`; null where an earlier release wrote it, and size and time alone say whether it has changed. */
  readonly sum: string | null;
}

export interface MemoryFacts {
  readonly base: MemoryBase;
  /** Emulator, accelerator and devices: device state loads if all of it is the same. */
  readonly stateKey: string;
  /** Explains why it does not load; absent where an older release saved it. */
  readonly savedOn?: SavedOn;
  /**
   * The browser's disk that its guest may have mounted: it must find the same bytes. Null for zeroes; absent: the machine has
   * no such device, as in machines of older releases.
   */
  readonly browser?: string | null;
  /** The size of the machine's devices, which is larger than the machine if the guest was made smaller. */
  readonly plugged: Plugged;
  /** The credential by which the daemon in its memory knows the host; absent where it knows none. */
  readonly credential?: string;
}

/** The memory and devices that belong to the disk; words are little-endian, in base64. */
export interface SavedMemory extends MemoryFacts {
  readonly devices: { readonly bytes: number; readonly sum: number };
  readonly pages: {
    readonly file: string;
    readonly bytes: number;
    readonly index: string;
    readonly sums: string;
    readonly packed?: string;
  };
  /** Digest of the whole file beneath the pages (`whole.ts`); null where another base or none is. */
  readonly whole: string | null;
}

export interface SavedManifest {
  readonly version: 1;
  readonly id: string;
  readonly agentId: string;
  readonly executionId: string;
  /** Unix time, ms. */
  readonly savedAt: number;
  readonly templateId: string;
  readonly machine: Machine;
  readonly facts: RuntimeFacts | null;
  /** The disk's layers in this folder, the top first. */
  readonly layers: readonly SavedLayer[];
  readonly memory: SavedMemory | null;
  /** SHA-256 of the listing; null where there is none. */
  readonly listing: string | null;
  /** Bytes of the guest's data folders, as a tar archive; absent where they are not kept. */
  readonly data?: number;
}

/** A memory whose devices are as they were saved. Its pages are checked as they are read. */
export interface LoadableMemory extends MemoryFacts {
  readonly templateId: string;
  readonly machine: Machine;
  readonly facts: RuntimeFacts;
  readonly devicesPath: string;
  readonly pagesPath: string;
  readonly pages: SavedPages;
}

export const manifestName = 'manifest';
export const dataName = 'data';
export const wholeName = 'memory';
export const wholeSumsName = 'memory.sums';

export async function writeManifest(folder: string, manifest: SavedManifest): Promise<void> {
  const json = JSON.stringify(manifest);
  await replaceFileForGood(join(folder, manifestName), `${sha256(json)}\n${json}`);
}

/** Returns null when there is none. Rejects with `saved_damaged` when it is not as it was written. */
export async function readManifest(folder: string): Promise<SavedManifest | null> {
  const text = await ifThere(readFile(join(folder, manifestName), 'utf8'));
  if (text === null) return null;
  const json = unsealed(text);
  if (json === null) throw damagedSaved('its manifest is not as it was written');
  const manifest = JSON.parse(json) as SavedManifest;
  if (manifest.version !== 1) throw damagedSaved(`its manifest is of version ${String(manifest.version)}`);
  return manifest;
}

/** Returns the text under a line with its SHA-256; null when it is not that text. */
export function unsealed(text: string): string | null {
  const end = text.indexOf('\n');
  const below = text.slice(end + 1);
  return end === 64 && text.slice(0, end) === sha256(below) ? below : null;
}

/** The files of a saved machine but for its manifest, by their names in its folder. */
export function fileNames({ layers, memory, listing, data }: SavedManifest): string[] {
  return [
    ...layers.map(({ name }) => name),
    ...(memory === null ? [] : ['devices', memory.pages.file]),
    ...(memory?.base === 'whole' ? [wholeName, wholeSumsName] : []),
    ...(listing === null ? [] : ['listing']),
    ...(data === undefined ? [] : [dataName]),
  ];
}

/** Removes files of a saved machine that its manifest does not name: all of them, or those of `names`. */
export async function removeStrays(folder: string, names?: readonly string[]): Promise<void> {
  const manifest = await readManifest(folder).catch(() => null);
  if (!manifest) return;
  const named = new Set([manifestName, ...fileNames(manifest)]);
  for (const name of names ?? (await entries(folder)))
    if (!named.has(name)) await rm(join(folder, name), { force: true });
}

/** Does work that writes files for the manifest to name. They go again when it fails before that. */
export async function unlessStrays(folder: string, names: readonly string[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await removeStrays(folder, names);
    throw error;
  }
}

/** Whether a name may be a saved machine's. */
export function isSavedId(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(name);
}

export function damagedSaved(why: string): VmError {
  return new VmError('saved_damaged', `the saved machine is damaged: ${why}`);
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
