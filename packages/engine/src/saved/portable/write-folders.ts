import type { CarriedData, GuestAddress, ScratchFile } from '@lodge/ports';
import { atMost } from './bytes.ts';
import type { PortableParts } from './parts.ts';
import { ImportProblem } from './problem.ts';

export interface GuestFolders {
  readonly guest: GuestAddress;
  readonly data: CarriedData;
  /** The guest's disk, which bounds what is read. */
  readonly diskGib: number;
}

/** Reads a guest's folders into a file on the host, as a tar archive. */
export async function writeFolders(
  { trees }: Pick<PortableParts, 'trees'>,
  { guest, data, diskGib }: GuestFolders,
  scratch: ScratchFile,
  signal: AbortSignal,
): Promise<void> {
  const archive = await trees.read(guest, data, signal);
  // Headers and holes take a little more than files do.
  const most = (diskGib + 1) * 2 ** 30;
  await scratch.write(atMost(archive, most, () => new ImportProblem('the guest sends without end')));
}
