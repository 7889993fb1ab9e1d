/**
 * Reads a folder that somebody else's program made: bounded, and without following a link. Whatever is left out is counted by
 * its reason.
 */
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import { join } from 'node:path';

const maxFiles = 20_000;
const maxFolders = 20_000;
/** The API's bound of one file. */
export const maxFileBytes = 64 * 1024 * 1024;
const maxTotalBytes = 8 * 1024 * 1024 * 1024;
const maxNameBytes = 255;
const maxTextBytes = 1024 * 1024;

export interface FoundFile {
  readonly from: string;
  /** Path in the workspace. */
  readonly to: string;
  readonly size: number;
}

/** Counts what is left out, with the first names of each reason. */
export class LeftOut {
  readonly #reasons = new Map<string, { count: number; names: string[] }>();

  add(name: string, reason: string): void {
    const found = this.#reasons.get(reason) ?? { count: 0, names: [] };
    found.count += 1;
    if (found.names.length < 3) found.names.push(name);
    this.#reasons.set(reason, found);
  }

  get all(): { readonly reason: string; readonly count: number; readonly names: readonly string[] }[] {
    return [...this.#reasons].map(([reason, { count, names }]) => ({ reason, count, names }));
  }
}

/** Names that hold secrets of their own; they are asked for instead. */
const secretNames = /^(?:\.env(?:\..*)?|auth(?:-profiles)?\.json|credentials|\.netrc|\.git-credentials|id_[a-z0-9]+)$/;
/** Names that the program makes anew. */
const madeAnew = new Set(['.git', '.DS_Store', 'node_modules', '__pycache__', '.venv', 'venv']);

/** The reason of files that are taken over in another way. */
export const silently = '';

/** Returns the files below a folder, but for those that `skip` names with a reason. */
export async function filesBelow(
  folder: string,
  leftOut: LeftOut,
  skip: (path: string) => string | undefined = () => undefined,
): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  const folders = [''];
  let seenFolders = 0;
  let total = 0;
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    seenFolders += 1;
    if (seenFolders > maxFolders) {
      leftOut.add(next, `there are more than ${maxFolders} folders`);
      break;
    }
    for (const entry of await entriesOf(join(folder, next), leftOut)) {
      const path = next === '' ? entry.name : `${next}/${entry.name}`;
      const reason = reasonOf(entry) ?? skip(path);
      if (reason === silently) continue;
      if (reason !== undefined) leftOut.add(path, reason);
      else if (entry.isDirectory()) folders.push(path);
      else {
        const size = await sizeOf(join(folder, path));
        if (size === null) leftOut.add(path, 'it cannot be read');
        else if (size > maxFileBytes) leftOut.add(path, 'it is larger than 64 MiB');
        else if (found.length >= maxFiles || total + size > maxTotalBytes) leftOut.add(path, 'the folder is too large');
        else {
          total += size;
          found.push({ from: join(folder, path), to: path, size });
        }
      }
    }
  }
  return found;
}

async function entriesOf(folder: string, leftOut: LeftOut): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    leftOut.add(folder, 'it cannot be read');
    return [];
  }
}

function reasonOf(entry: Dirent): string | undefined {
  const { name } = entry;
  if (/[\p{Cc}\ufffd]/u.test(name) || Buffer.byteLength(name) > maxNameBytes) return 'its name is odd';
  if (entry.isSymbolicLink()) return 'it is a link';
  if (!entry.isFile() && !entry.isDirectory()) return 'it is neither file nor folder';
  if (secretNames.test(name)) return 'it may hold secrets';
  return madeAnew.has(name) ? 'it is made anew where it is needed' : undefined;
}

/** Opens the file itself, so that a link that took its place is not followed. */
async function sizeOf(path: string): Promise<number | null> {
  try {
    const file = await open(path, noFollow);
    try {
      const kind = await file.stat();
      return kind.isFile() ? kind.size : null;
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}

/** O_RDONLY, O_NOFOLLOW and O_NONBLOCK, where the system has them. */
const noFollow = ((): number => {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants as Readonly<Record<string, number>>;
  return (O_RDONLY ?? 0) | O_NOFOLLOW | O_NONBLOCK;
})();

/** Returns the size of a regular file; null where there is none. */
export const fileSize = sizeOf;

/** Reads a small text file; null where there is none. A link is none. */
export async function smallText(path: string): Promise<string | null> {
  try {
    const file = await open(path, noFollow);
    try {
      const kind = await file.stat();
      if (!kind.isFile() || kind.size > maxTextBytes) return null;
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}
