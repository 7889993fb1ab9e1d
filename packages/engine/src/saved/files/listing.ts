/** Listings of workspaces, read in slices: one may have hundreds of thousands of records, and a guest chose them. */
import { setImmediate } from 'node:timers/promises';
import { Lowest, Refusal, fileChanges, listedFiles, maxListedFiles } from '@lodge/domain';
import type { ChangedFile, ListedFile } from '@lodge/domain';
import { maxListingBytes } from '@lodge/ports';

/** The entries of a workspace by path, or as many of them as a listing takes. */
export interface Listing {
  readonly files: ReadonlyMap<string, ListedFile>;
  readonly isCut: boolean;
}

export interface FolderQuery {
  /** Within the workspace; empty for the workspace itself. */
  readonly folder: string;
  /** Entries behind this name. */
  readonly after: string;
  readonly limit: number;
}

/** Most differences in one reply. */
export const maxChanges = 1_000;
/** Records between two pauses, in which others get their turn. */
const sliceRecords = 2_000;

export async function listingFrom(text: string): Promise<Listing> {
  const files = new Map<string, ListedFile>();
  let isCut = text.length > 0 && (!text.endsWith('\0') || Buffer.byteLength(text) >= maxListingBytes);
  let count = 0;
  await eachInSlices(listedFiles(text), (file) => {
    count += 1;
    if (count > maxListedFiles) {
      isCut = true;
      return 'enough';
    }
    files.set(file.path, file);
    return undefined;
  });
  return { files, isCut };
}

export interface FolderPage {
  readonly entries: readonly ListedFile[];
  readonly more: boolean;
  readonly truncated: boolean;
}

/** One page of a folder, by name. Refuses with `file_not_found` or `file_conflict` where there is no such folder. */
export async function pageOf({ files, isCut }: Listing, { folder, after, limit }: FolderQuery): Promise<FolderPage> {
  if (folder !== '') {
    const found = files.get(folder);
    if (found === undefined) throw new Refusal('file_not_found', 'Nothing is at this path of the workspace.');
    if (found.type !== 'directory') {
      throw new Refusal('file_conflict', 'This cannot be done with what is at the path: path is not a folder.');
    }
  }
  const prefix = folder === '' ? '' : `${folder}/`;
  const lowest = new Lowest<ListedFile>(limit, ({ path }) => path);
  const behind = prefix + after;
  await eachInSlices(files.values(), (file) => {
    const { path } = file;
    if (path > behind && path.startsWith(prefix) && !path.includes('/', prefix.length)) lowest.add(file);
    return undefined;
  });
  const { items, isCut: more } = lowest.take();
  return { entries: items, more, truncated: isCut };
}

/** The differences on the way from one workspace to another, by path. */
export async function changesBetween(before: Listing, after: Listing) {
  const lowest = new Lowest<ChangedFile>(maxChanges, ({ path }) => path);
  await eachInSlices(fileChanges(before.files, after.files), (change) => {
    lowest.add(change);
    return undefined;
  });
  const { items, isCut } = lowest.take();
  return { changes: items, truncated: isCut || before.isCut || after.isCut };
}

/** Takes each item that there is, with a pause after every so many steps. Ends early once `take` says that it has enough. */
async function eachInSlices<Item>(
  steps: Iterable<Item | null>,
  take: (item: Item) => 'enough' | undefined,
): Promise<void> {
  let count = 0;
  for (const step of steps) {
    count += 1;
    if (count % sliceRecords === 0) await setImmediate();
    if (step !== null && take(step) === 'enough') return;
  }
}
