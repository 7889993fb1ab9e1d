/** Whether a path is root's alone: whoever may replace it, or a folder above it, decides what root runs there. */
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { join, relative, sep } from 'node:path';

export interface Stranger {
  readonly path: string;
  /** In words: who may replace it. */
  readonly who: string;
}

/** As many links as the kernel follows for one path. */
const maxLinks = 40;
/** A checkout with its packages has some 50,000. */
const maxEntries = 250_000;

/**
 * Null where the path and all folders above it, from `top` on, are root's to write alone. The same holds for each link on the
 * way, with the folders above what it leads to. Rejects where there is nothing.
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

/** The same of everything in a folder, also behind links, but for the folders `except`. What is closed or has just gone counts as root's. */
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

/** The folder that a link leads to; null where it leads to none. */
async function folderAt(link: string): Promise<string | null> {
  const path = await realpath(link).catch(() => null);
  const found = path === null ? null : await lstat(path).catch(() => null);
  return found?.isDirectory() ? path : null;
}

/** In words: who beside root may write to it; null: nobody. */
function writerOf(stats: Stats): string | null {
  if (stats.uid !== 0) return `user ${stats.uid}`;
  return !stats.isSymbolicLink() && (stats.mode & 0o022) !== 0 ? 'others than its owner' : null;
}

const partsOf = (path: string): string[] => path.split(sep).filter((part) => part !== '' && part !== '.');
