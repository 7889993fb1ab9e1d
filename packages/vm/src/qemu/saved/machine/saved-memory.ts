/** The memory of a saved machine in its folder: writes and reads what a manifest says about it. */
import { chown, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ifThere } from '@lodge/domain';
import { syncFile } from '../../host/files.ts';
import type { SavedPages } from '../snapshot/page-job.ts';
import { damagedSaved } from './manifest.ts';
import type { LoadableMemory, MemoryFacts, SavedManifest, SavedMemory } from './manifest.ts';
import { assertWhole, wholeDigest } from './whole.ts';

export const pagesName = 'pages';

/** Makes memory and devices files of root's, with what identifies them. Unless it is hasty, they are on the disk then. */
export async function settled(
  draft: { readonly folder: string; readonly devicesPath: string; readonly pagesPath: string },
  pages: SavedPages,
  { base }: MemoryFacts,
  isHasty: boolean,
): Promise<Pick<SavedMemory, 'devices' | 'pages' | 'whole'>> {
  await chown(draft.devicesPath, 0, 0);
  const devices = await readFile(draft.devicesPath);
  if (!isHasty) for (const path of [draft.devicesPath, draft.pagesPath]) await syncFile(path);
  return {
    devices: { bytes: devices.length, sum: crc32(devices) },
    pages: wordsOf(pagesName, pages),
    whole: base === 'whole' ? await wholeDigest(draft.folder) : null,
  };
}

export const wordsOf = (file: string, pages: SavedPages): SavedMemory['pages'] => {
  const packed = pages.packed && { packed: toBase64(pages.packed) };
  return { file, bytes: pages.bytes, index: toBase64(pages.index), sums: toBase64(pages.sums), ...packed };
};

function pagesOf({ bytes, index, sums, packed }: SavedMemory['pages']): SavedPages {
  const words = { bytes, index: fromBase64(index), sums: fromBase64(sums) };
  return packed === undefined ? words : { ...words, packed: fromBase64(packed) };
}

export async function loadMemory(
  folder: string,
  manifest: SavedManifest,
  memory: SavedMemory,
): Promise<LoadableMemory> {
  const devicesPath = join(folder, 'devices');
  const pagesPath = join(folder, memory.pages.file);
  const devices = await readFile(devicesPath).catch(() => null);
  if (devices?.length !== memory.devices.bytes || crc32(devices) !== memory.devices.sum) {
    throw damagedSaved('its device state');
  }
  const pages = pagesOf(memory.pages);
  const stored = pages.packed ? pages.packed.reduce((sum, length) => sum + length, 0) : pages.bytes;
  if ((await ifThere(stat(pagesPath)))?.size !== stored) throw damagedSaved('its memory');
  if (memory.whole !== null) await assertWhole(folder, memory.whole, new AbortController().signal);
  const { templateId, machine, facts } = manifest;
  return { ...memory, templateId, machine, facts: facts ?? {}, devicesPath, pagesPath, pages };
}

function toBase64(words: Uint32Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString('base64');
}

export function fromBase64(text: string): Uint32Array {
  return new Uint32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer);
}
