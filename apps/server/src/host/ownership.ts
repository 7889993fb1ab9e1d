/** Whether only root can change a path: anybody who can replace it, or a folder above it, decides what root runs there. */
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { join, relative, sep } from 'node:path';

export interface Stranger {
  readonly path: string;
  /** The user who can replace it, in words. */
  readonly who: string;
}

/** The number of links that the kernel follows for one path. */
const maxLinks = 40;
/** A checkout with its packages has some 50,000. */
const maxEntries = 250_000;

/**
 * Null if only root can write to the path and all folders above it, from `top` on. The same must hold for each link on the
 * way, with the folders above its target. Rejects if the path does not exist.
 */
export async function strangerOf(path: string, top = '/'): Promise<Stranger | null> {
  let at = await realpath(top);
  let left = partsOf(relative(top, path));
  let links = 0;
  for (let next: string | undefined = ''; next !== undefined; next = left.shift()) {
    const [folder, found] = [at, join(at, next)];
    const stats = await lstat(found);
    const who = writerOf(stats);
    if (who !== null) return { path: found, who };
    at = found;
    if (!stats.isSymbolicLink()) continue;
    links += 1;
    if (links > maxLinks) throw new Error(`${path} has more than ${maxLinks} links`);
    const target = await readlink(found);
    at = target.startsWith(sep) ? sep : folder;
    left = [...partsOf(target), ...left];
  }
  return null;
}

/**
 * The same for everything in a folder, also behind links, except the folders `except`. Closed folders and those that have
 * just gone count as root's.
 */
export async function strangerWithin(
  folder: string,
  top = '/',
  except: readonly string[] = [],
): Promise<Stranger | null> {
  const above = await strangerOf(folder, top);
  if (above !== null) return above;
  const folders = [await realpath(folder)];
  const seen = new Set([...folders, ...except]);
  let entries = 0;
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const paths = (await readdir(at).catch(() => [])).map((name) => join(at, name)).filter((path) => !seen.has(path));
    entries += paths.length;
    if (entries > maxEntries) return { path: folder, who: 'perhaps another user' };
    const found = await Promise.all(paths.map(async (path) => ({ path, stats: await lstat(path).catch(() => null) })));
    for (const { path, stats } of found) {
      if (stats === null) continue;
      const who = writerOf(stats);
      if (who !== null) return { path, who };
      const isLink = stats.isSymbolicLink();
      const onTheWay = isLink ? await strangerOf(path, top).catch(() => null) : null;
      if (onTheWay !== null) return onTheWay;
      const target = isLink ? await folderAt(path) : stats.isDirectory() ? path : null;
      if (target === null || seen.has(target)) continue;
      seen.add(target);
      folders.push(target);
    }
  }
  return null;
}

/** The folder that a link leads to; null if there is none. */
async function folderAt(link: string): Promise<string | null> {
  const path = await realpath(link).catch(() => null);
  const found = path === null ? null : await lstat(path).catch(() => null);
  return found?.isDirectory() ? path : null;
}

/** The users beside root who may write to it, in words; null: nobody. */
function writerOf(stats: Stats): string | null {
  if (stats.uid !== 0) return `user ${stats.uid}`;
  return !stats.isSymbolicLink() && (stats.mode & 0o022) !== 0 ? 'others than its owner' : null;
}

const partsOf = (path: string): string[] => path.split(sep).filter((part) => part !== '' && part !== '.');
