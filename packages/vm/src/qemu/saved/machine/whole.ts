/**
 * The whole form of a saved machine's memory: one file of the size that every guest boots with. Machines that are started from
 * it map it, as clones map a template's, so what they do not write they share. `memory.sums` beside it has the CRC-32 of each
 * MiB, as little-endian words. Both files are only read, and go along by hard links to whatever lies over them.
 */
import { chmod, chown, link, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootMemoryMib } from '../../machine/command-line.ts';
import { templateGid } from '../../machine/confinement.ts';
import { copyToWrite } from '../../host/take-file.ts';
import type { SavedPages } from '../snapshot/page-job.ts';
import { damagedSaved, sha256, wholeName, wholeSumsName } from './manifest.ts';
import { inMemoryThread } from './memory-jobs.ts';
import type { MadeWhole, MakeJob } from './memory-jobs.ts';

const wholeBytes = bootMemoryMib * 2 ** 20;

/** Files that were found to be as they were written, by inode, times and size. */
const known = new Set<string>();

export interface WholeRequest extends Pick<MakeJob, 'pagesPath' | 'pages' | 'restPath'> {
  /** The file that lies beneath the pages; null for zeros. */
  readonly base: string | null;
  /** The folder of the two files. */
  readonly folder: string;
  /** Whether QEMU can map a file that it may not write. */
  readonly readOnly: boolean;
}

/** Writes both files. Rejects with `saved_damaged` when the pages are not as they were saved. Returns the pages beyond. */
export async function makeWhole(request: WholeRequest, signal: AbortSignal): Promise<SavedPages> {
  const { folder, readOnly, base, pagesPath, pages, restPath } = request;
  const wholePath = join(folder, wholeName);
  // Where the file system can, the copy shares the base's blocks.
  if (base === null) await writeFile(wholePath, '', { mode: 0o600 });
  else await copyToWrite(base, wholePath, 0);
  const job = { do: 'make', wholePages: wholeBytes / 4096, pagesPath, pages, wholePath, restPath } as const;
  const { sums, rest } = await inMemoryThread<MadeWhole>(job, signal);
  // Before QEMU 8.2 a file must be opened for writing even to be mapped copy-on-write.
  await chown(wholePath, 0, templateGid);
  await chmod(wholePath, readOnly ? 0o640 : 0o660);
  const words = Buffer.from(sums.buffer, sums.byteOffset, sums.byteLength);
  await writeFile(join(folder, wholeSumsName), words, { mode: 0o600, flush: true });
  known.add(await keyOf(wholePath));
  return rest;
}

/** The digest of the sums, by which a manifest knows them. */
export async function wholeDigest(folder: string): Promise<string> {
  return sha256(await readFile(join(folder, wholeSumsName)));
}

export async function linkWhole(from: string, to: string): Promise<void> {
  for (const name of [wholeName, wholeSumsName]) await link(join(from, name), join(to, name));
}

/** Rejects with `saved_damaged` unless the file is as it was written; a file that is known is not read again. */
export async function assertWhole(folder: string, digest: string, signal: AbortSignal): Promise<void> {
  const path = join(folder, wholeName);
  const key = await keyOf(path).catch(() => null);
  const words = await readFile(join(folder, wholeSumsName)).catch(() => null);
  if (key === null || words === null || sha256(words) !== digest) throw damagedSaved('its memory');
  if (known.has(key)) return;
  const sums = await inMemoryThread<Uint32Array>({ do: 'check', path, bytes: wholeBytes }, signal);
  if (!words.equals(Buffer.from(sums.buffer, sums.byteOffset, sums.byteLength))) throw damagedSaved('its memory');
  if (known.size > 10_000) known.clear();
  known.add(key);
}

async function keyOf(path: string): Promise<string> {
  const { size, mtimeNs, ino, birthtimeNs, dev } = await stat(path, { bigint: true });
  if (Number(size) !== wholeBytes) throw damagedSaved('its memory');
  return `${dev}:${ino}:${birthtimeNs}:${size}:${mtimeNs}`;
}
