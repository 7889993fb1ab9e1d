/** An agent's own folders on their way from one guest to another, as a tar archive on the host. */
import { createReadStream, createWriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TreeNotLaid, layTree } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import type { CarriedData } from '@lodge/ports';
import { freeSpace } from '../host/capacity.ts';
import { syncFile } from '../host/files.ts';

/** Writes the folders' contents to `path`, on the disk when it resolves; `floorMib` of the host's disk stay free. */
export async function saveData(
  guest: GuestClient,
  { folders, floorMib }: CarriedData & { readonly floorMib: number },
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const { freeMib } = await freeSpace(dirname(path));
  const archive = await guest.readTree(folders, { signal });
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  await pipeline(archive, atMost((freeMib - floorMib) * 2 ** 20), file, { signal });
  await syncFile(path);
}

/** Replaces the folders' contents by the archive's, except for the template's own files. */
export async function loadData(
  guest: GuestClient,
  data: CarriedData,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const archive = createReadStream(path);
  try {
    await layTree(guest, data, archive, signal);
  } catch (error) {
    throw error instanceof TreeNotLaid ? new VmError('failed', error.message, { cause: error }) : error;
  } finally {
    archive.destroy();
  }
}

/** Bounds a stream, because a guest may send without end. */
function atMost(bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(new VmError('disk_full', "no room for what is in the guest's folders"));
      else done(null, chunk);
    },
  });
}

export interface UpgradeRoom {
  /** Present size of disk and memory. */
  readonly diskMib: number;
  readonly memoryMib: number;
  /** Free space that must remain afterwards. */
  readonly floorMib: number;
}

/** Most MiB that an upgrade writes beside disks and memory. */
const spareMib = 512;

/** Rejects with `disk_full` unless there is room for a second disk, the guest's data and a VM's memory. */
export async function assertUpgradeRoom(folder: string, { diskMib, memoryMib, floorMib }: UpgradeRoom): Promise<void> {
  const { freeMib } = await freeSpace(folder);
  const neededMib = Math.ceil(2 * diskMib + memoryMib + spareMib + floorMib);
  if (freeMib >= neededMib) return;
  throw new VmError('disk_full', `an upgrade needs ${neededMib} MiB, and ${freeMib} MiB are free`);
}
