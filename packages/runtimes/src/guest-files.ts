import { Readable } from 'node:stream';
import { guestClient, GuestError } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import { GuestFileFailure } from '@lodge/ports';
import type { GuestAddress, GuestFiles, GuestFileTrouble } from '@lodge/ports';

/** The trouble with a file that each status of the guest's daemon means. */
const troubles: Readonly<Record<number, GuestFileTrouble>> = {
  400: 'not_a_file',
  404: 'not_there',
  409: 'not_a_file',
  413: 'too_large',
  507: 'disk_full',
};

/** Files of guests, through their daemons. */
export function createGuestFiles(guestAt: (guest: GuestAddress) => GuestClient = guestClient): GuestFiles {
  return {
    async write(guest, path, bytes, signal) {
      const body = Readable.from(bytes, { objectMode: false });
      await answered(guestAt(guest).workspace.write(path, body, {}, { signal }));
    },
    async read(guest, path, maxBytes, signal) {
      const { entry, stream, length } = await answered(guestAt(guest).workspace.read(path, null, { signal }));
      if (entry.type === 'file' && length <= maxBytes) return stream;
      stream.destroy();
      throw new GuestFileFailure(entry.type === 'file' ? 'too_large' : 'not_a_file');
    },
  };
}

async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof GuestError)) throw error;
    throw new GuestFileFailure(troubles[error.status ?? 0] ?? 'unavailable', error);
  }
}
