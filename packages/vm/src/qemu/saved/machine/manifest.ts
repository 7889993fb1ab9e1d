/** The manifest of a saved machine: its SHA-256 in a line of its own, then JSON; 0600, for it holds secrets. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { Machine, RuntimeFacts } from '@lodge/ports';
import { replaceFileForGood } from '../../host/files.ts';
import type { SnapshotFacts } from '../snapshot/snapshot.ts';

export interface SavedLayer {
  readonly name: string;
  readonly bytes: number;
  /** `size:mtime in ns` of the file. */
  readonly mark: string;
  /** See `layer-thread.ts`. */
  readonly sum: string;
}

/** The memory and devices that belong to the disk; words are little-endian, in base64. */
export interface SavedMemory extends Omit<SnapshotFacts, 'templateId' | 'machine' | 'facts'> {
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
}

export const manifestName = 'manifest';

export async function writeManifest(folder: string, manifest: SavedManifest): Promise<void> {
  const json = JSON.stringify(manifest);
  await replaceFileForGood(join(folder, manifestName), `${sha256(json)}\n${json}`);
}

/** Returns null when there is none. Rejects with `saved_damaged` when it is not as it was written. */
export async function readManifest(folder: string): Promise<SavedManifest | null> {
  const text = await ifThere(readFile(join(folder, manifestName), 'utf8'));
  if (text === null) return null;
  const end = text.indexOf('\n');
  const json = text.slice(end + 1);
  if (end !== 64 || text.slice(0, end) !== sha256(json)) throw damagedSaved('its manifest is not as it was written');
  const manifest = JSON.parse(json) as SavedManifest;
  if (manifest.version !== 1) throw damagedSaved(`its manifest is of version ${String(manifest.version)}`);
  return manifest;
}

export function damagedSaved(why: string): VmError {
  return new VmError('saved_damaged', `the saved machine is damaged: ${why}`);
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
