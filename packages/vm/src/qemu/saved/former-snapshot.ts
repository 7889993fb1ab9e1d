/**
 * A stop, or an upgrade under way, as releases before saved machines kept it: in the VM's folder, `snapshot/` beside the disk
 * whose state it belongs to.
 *
 *   memory    the pages of the guest's memory that were the VM's own, one after another
 *   devices   device state, as QEMU wrote it
 *   data      of a VM that is upgraded: its guest's data folders, as a tar archive
 *   manifest  the manifest's SHA-256 in a line of its own, then the manifest as JSON
 *
 * It appeared whole, and was gone before the guest ran again, so as long as it exists the disk is unchanged. It is made a
 * machine at rest by links alone (`lifecycle/former-rest.ts`), and is not written any more.
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ifThere } from '@lodge/domain';
import type { Machine, RuntimeFacts } from '@lodge/ports';
import { exists } from '../host/files.ts';
import { unsealed } from './machine/manifest.ts';
import type { MemoryFacts } from './machine/manifest.ts';
import { fromBase64 } from './machine/saved-memory.ts';
import type { SavedPages } from './snapshot/page-job.ts';

interface Manifest extends MemoryFacts {
  readonly version: 1;
  readonly templateId: string;
  readonly machine: Machine;
  readonly facts: RuntimeFacts;
  /** State of the disk: its size and when it was last written. */
  readonly disk: string;
  readonly devices: { readonly bytes: number; readonly sum: number };
  /** `index` and `sums` are the little-endian words of `SavedPages`, in base64. */
  readonly pages: { readonly bytes: number; readonly index: string; readonly sums: string };
}

export interface FormerSnapshot {
  readonly templateId: string;
  readonly machine: Machine;
  readonly facts: RuntimeFacts;
  readonly about: MemoryFacts;
  readonly pages: SavedPages;
  readonly devicesPath: string;
  readonly pagesPath: string;
  /** Null where it is none of an upgrade. */
  readonly dataPath: string | null;
}

export const formerSnapshotName = 'snapshot';

/** Returns null when there is none, or it is not as it was written, or the disk has changed since: then the disk is all. */
export async function readFormerSnapshot(folder: string, disk: string): Promise<FormerSnapshot | null> {
  const path = join(folder, formerSnapshotName);
  const text = (await ifThere(readFile(join(path, 'manifest'), 'utf8'))) ?? '';
  const json = unsealed(text);
  if (json === null) return null;
  const manifest = JSON.parse(json) as Manifest;
  const found = await ifThere(stat(disk, { bigint: true }));
  if (manifest.version !== 1 || !found || manifest.disk !== `${found.size}:${found.mtimeNs}`) return null;
  const devicesPath = join(path, 'devices');
  const written = await ifThere(readFile(devicesPath));
  if (written?.length !== manifest.devices.bytes || crc32(written) !== manifest.devices.sum) return null;
  const { version: _version, disk: _disk, devices: _devices, templateId, machine, facts, pages, ...about } = manifest;
  const words = { bytes: pages.bytes, index: fromBase64(pages.index), sums: fromBase64(pages.sums) };
  const dataPath = join(path, 'data');
  const paths = { devicesPath, pagesPath: join(path, 'memory'), dataPath: (await exists(dataPath)) ? dataPath : null };
  return { templateId, machine, facts, about, pages: words, ...paths };
}
