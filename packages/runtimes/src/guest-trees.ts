import { Readable } from 'node:stream';
import { guestClient, layTree } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import type { GuestAddress, GuestTrees } from '@lodge/ports';

/** Folders of guests, through their daemons. */
export function createGuestTrees(guestAt: (guest: GuestAddress) => GuestClient = guestClient): GuestTrees {
  return {
    read: (guest, { folders }, signal) => guestAt(guest).readTree(folders, { signal }),
    async write(guest, data, archive, signal) {
      const body = Readable.from(archive, { objectMode: false });
      try {
        await layTree(guestAt(guest), data, body, signal);
      } finally {
        body.destroy();
      }
    },
  };
}
