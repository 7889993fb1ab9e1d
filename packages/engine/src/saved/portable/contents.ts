/**
 * Which entries an export has. An export leaves out what no import takes; an import refuses it. Both write what is left in one
 * plain form, without extended attributes and access lists: a guest's tar reads no header that somebody else wrote.
 */
import { TarReader, headerBytes, paddingBytes } from './tar.ts';
import type { TarEntry } from './tar.ts';
import { ImportProblem } from './problem.ts';

export interface Folders {
  /** Absolute. */
  readonly folders: readonly string[];
  /** Absolute paths below them that are left out. */
  readonly except: readonly string[];
}

export interface ContentBounds {
  /** Bytes of all files, holes included. */
  readonly bytes: number;
  readonly entries: number;
  /** Bytes of the names of links, which are remembered. */
  readonly linkBytes: number;
}

export const contentBounds = (diskGib: number): ContentBounds => ({
  bytes: diskGib * 2 ** 30,
  entries: 2_000_000,
  linkBytes: 32 * 2 ** 20,
});

const maxName = 255;
/** The agent's user in its guest, and root. */
const owners: ReadonlySet<number> = new Set([0, 1000]);
const agentUser = 1000;
const ownBits = 0o7000;
const setIdBits = 0o6000;
/** Programs of the image, at which links of a workspace point: a Python environment has such links. */
const imageFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/opt'];
/** Browsers keep the sessions of their user on their disk: they are grants. */
export const leftInPlace = ['/home/agent/.browser'];

/** Says why an entry is in no export; null: it may be. Remembers links, through which no later entry may go. */
export class Contents {
  private readonly of: Folders;
  private readonly bounds: ContentBounds;
  private readonly links = new Set<string>();
  private linkBytes = 0;
  private bytes = 0;
  private entries = 0;

  constructor(of: Folders, bounds: ContentBounds) {
    this.of = of;
    this.bounds = bounds;
  }

  /** Bytes and entries so far. */
  get total(): { readonly bytes: number; readonly entries: number } {
    return { bytes: this.bytes, entries: this.entries };
  }

  /** Whether the entry is the runtime's or the browser's own, and stays where it is. */
  isLeftInPlace({ path }: TarEntry): boolean {
    return [...this.of.except, ...leftInPlace].some((except) => isWithin(`/${path}`, except));
  }

  troubleOf(entry: TarEntry): string | null {
    this.entries += 1;
    this.bytes += entry.realSize ?? entry.size;
    if (this.entries > this.bounds.entries) throw new ImportProblem('it has too many files');
    if (this.bytes > this.bounds.bytes)
      throw new ImportProblem('its files have no room on the disk of an agent of its size');
    return pathTrouble(entry.path) ?? this.placeTrouble(entry) ?? ownTrouble(entry) ?? this.linkTrouble(entry);
  }

  private placeTrouble({ path, type }: TarEntry): string | null {
    const place = `/${path}`;
    const root = this.of.folders.find((folder) => isWithin(place, folder));
    if (root === undefined) return 'it lies outside the folders of an agent';
    if (place === root && type !== 'folder') return 'it takes the place of a folder of the agent';
    return this.isThroughLink(path) ? 'it lies behind a link' : null;
  }

  private linkTrouble({ path, type, link }: TarEntry): string | null {
    if (type !== 'symlink' && type !== 'link') return null;
    if (link === '' || link.includes('\0')) return 'it is a link to nothing';
    if (type === 'link') {
      const isInside = pathTrouble(link) === null && this.of.folders.some((folder) => isWithin(`/${link}`, folder));
      return isInside && !this.isThroughLink(link) ? null : 'it is a link outwards';
    }
    const target = resolved(path, link);
    const isInside = this.of.folders.some((folder) => isWithin(target, folder));
    const isOfImage = link.startsWith('/') && imageFolders.some((folder) => isWithin(target, folder));
    if (!isInside && !isOfImage && target !== '/dev/null') return 'it is a link outwards';
    this.remember(path);
    return null;
  }

  private remember(path: string): void {
    this.linkBytes += path.length + 64;
    if (this.linkBytes > this.bounds.linkBytes) throw new ImportProblem('it has too many links');
    this.links.add(path);
  }

  private isThroughLink(path: string): boolean {
    if (this.links.size === 0) return false;
    for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1)) {
      if (this.links.has(path.slice(0, at))) return true;
    }
    return false;
  }
}

function pathTrouble(path: string): string | null {
  const isPlain = path
    .split('/')
    .every((name) => name !== '' && name !== '.' && name !== '..' && name.length <= maxName && !name.includes('\0'));
  return isPlain ? null : 'its path leads elsewhere';
}

function ownTrouble({ type, mode, uid, gid }: TarEntry): string | null {
  if (type === 'other') return 'it is no file, folder or link';
  if (!owners.has(uid) || !owners.has(gid)) return 'it has an owner that no agent has';
  if (mode > 0o7777 || (mode & setIdBits) !== 0) return 'it would run as its owner';
  return null;
}

const isWithin = (path: string, folder: string): boolean =>
  folder === '/' || path === folder || path.startsWith(`${folder}/`);

/** The absolute path at which a symbolic link points, as far as its text says it. */
function resolved(path: string, link: string): string {
  const from = link.startsWith('/') ? [] : path.split('/').slice(0, -1);
  for (const name of link.split('/')) {
    if (name === '' || name === '.') continue;
    if (name === '..') from.pop();
    else from.push(name);
  }
  return `/${from.join('/')}`;
}

/** The form of an entry in an export: another owner becomes the agent's user, and nothing runs as its owner. */
export const portable = (entry: TarEntry): TarEntry => ({
  ...entry,
  mode: entry.mode & 0o7777 & ~(entry.type === 'folder' ? setIdBits : ownBits),
  uid: owners.has(entry.uid) ? entry.uid : agentUser,
  gid: owners.has(entry.gid) ? entry.gid : agentUser,
});

/** Copies the current entry of the reader. */
export async function* copied(reader: TarReader, entry: TarEntry): AsyncGenerator<Buffer> {
  yield headerBytes(entry);
  yield* reader.content();
  yield paddingBytes(entry.size);
}

/** A name as a message may show it. */
export const shown = (path: string): string => {
  const text = Buffer.from(path.slice(0, 200), 'latin1').toString('utf8');
  return text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?');
};
