/** Listings of a guest's workspace. The guest chose every name, type, size and time, and how many there are. */
import { boundedMs, maxListedFiles } from '@lodge/domain';
import type { ListedFile } from '@lodge/domain';
import type { Listing } from '@lodge/engine';
import { maxListEntries } from '@lodge/guest';
import type { EntryList, GuestClient } from '@lodge/guest';
import { maxListingBytes } from '@lodge/ports';
import { ofGuest } from './guest-error.ts';

const listMs = 30_000;
/** Folders that are asked for one by one. */
const maxFolders = 5_000;

/** The workspace of a running guest, in the form of a snapshot's listing. */
export async function presentListing(guest: GuestClient, signal: AbortSignal): Promise<string> {
  const argv = ['find', '/workspace', '-mindepth', '1', '-printf', String.raw`%y %s %T@ %P\0`];
  const request = { argv, user: 'root', timeoutMs: listMs * guest.pace, maxOutputBytes: maxListingBytes } as const;
  const { stdout } = await ofGuest(guest.execCollected(request, { signal }));
  return stdout;
}

/** The workspace of a guest whose processes are frozen, so its daemon is asked for each folder. */
export async function stillListing(guest: GuestClient, signal: AbortSignal): Promise<Listing> {
  const files = new Map<string, ListedFile>();
  const folders = [''];
  const until = performance.now() + listMs * guest.pace;
  let asked = 0;
  // Folders that are found are added to those that are asked for.
  for (const folder of folders) {
    const prefix = folder === '' ? '' : `${folder}/`;
    for (let after: string | null = ''; after !== null; asked += 1) {
      if (asked >= maxFolders || files.size >= maxListedFiles || performance.now() > until) {
        return { files, isCut: true };
      }
      const page: EntryList = await ofGuest(guest.workspace.list(folder, { after, limit: maxListEntries }, { signal }));
      for (const { name, type, size, modifiedMs } of page.entries) {
        const path = `${prefix}${name}`;
        files.set(path, { path, type, size, modifiedMs: boundedMs(modifiedMs) });
        if (type === 'directory') folders.push(path);
      }
      after = page.more ? (page.entries.at(-1)?.name ?? null) : null;
    }
  }
  return { files, isCut: false };
}
