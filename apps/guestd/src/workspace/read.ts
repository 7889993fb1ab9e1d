import { constants } from 'node:fs';
import { lstat, open, opendir, readlink, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { maxListEntries, type Entry, type EntryList, type NamedEntry } from '@lodge/guest';
import { Refusal, systemCode } from '../errors.ts';
import { integer } from '../fields.ts';
import { within } from '../handles.ts';
import type { Settings } from '../settings.ts';
import { entryOf } from './entry.ts';
import { locate } from './walk.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

export async function readEntry(settings: Settings, query: URLSearchParams): Promise<Entry> {
  await using place = await locate(settings, query.get('path'), { follow: true });
  return entryOf(await lstat(place.path, { bigint: true }));
}

interface Content {
  readonly entry: Entry;
  readonly stream: Readable;
  /** Bytes that `stream` gives. */
  readonly length: number;
  /** Set when a part was asked for and is what is given. */
  readonly range: string | null;
}

export async function readContent(settings: Settings, query: URLSearchParams): Promise<Content> {
  await using place = await locate(settings, query.get('path'), { follow: true });
  // Without O_NONBLOCK a named pipe would hold the call, and a thread, until somebody writes to it.
  const file = await open(place.path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const entry = entryOf(await file.stat({ bigint: true }));
    if (entry.type !== 'file') throw new Refusal(409, 'path is not a regular file');
    const part = partOf(query, entry);
    const { first, last } = part ?? { first: 0, last: entry.size - 1 };
    return {
      entry,
      stream: streamOf(file, first, last),
      length: last - first + 1,
      range: part && `bytes ${first}-${last}/${entry.size}`,
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function streamOf(file: FileHandle, first: number, last: number): Readable {
  // An end before the start is refused by Node; a file that is empty gives nothing anyway.
  return file.createReadStream(last < first ? {} : { start: first, end: last });
}

function partOf(query: URLSearchParams, entry: Entry): { readonly first: number; readonly last: number } | null {
  const { size, version } = entry;
  const [from, to, only] = [query.get('from'), query.get('to'), query.get('version')];
  if (from === null || (only !== null && only !== version)) return null;
  if (!/^-?\d{1,15}$/.test(from) || (to !== null && !/^\d{1,15}$/.test(to))) {
    throw new Refusal(400, 'from and to must be whole numbers');
  }
  const first = from.startsWith('-') ? Math.max(0, size - Number(from.slice(1))) : Number(from);
  const last = from.startsWith('-') || to === null ? size - 1 : Math.min(size - 1, Number(to));
  if (first >= size || last < first) throw new Refusal(416, 'the file has no such bytes');
  return { first, last };
}

/** A page of a folder. Only as many names are held as a page has, however many there are. */
export async function listFolder(settings: Settings, query: URLSearchParams): Promise<EntryList> {
  const after = query.get('after') ?? '';
  const limit = integer({ limit: Number(query.get('limit') ?? NaN) }, 'limit', 1, maxListEntries);
  await using place = await locate(settings, query.get('path'), { follow: true });
  await using folder = await open(place.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const names = await namesBehind(folder, after, limit + 1);
  const found = await Promise.all(names.slice(0, limit).map((name) => namedEntry(folder, name)));
  return { entries: found.filter((entry) => entry !== null), more: names.length > limit };
}

async function namesBehind(folder: FileHandle, after: string, most: number): Promise<string[]> {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let names: string[] = [];
  const lowest = (): string[] => names.sort((a, b) => (a < b ? -1 : 1)).slice(0, most);
  // Node's types know of names as text only; `encoding: 'buffer'` gives them as they are.
  const options = { encoding: 'buffer' } as unknown as { encoding: BufferEncoding };
  for await (const { name } of await opendir(within(folder, '.'), options)) {
    const text = decoded(utf8, name as unknown as Buffer);
    if (text === null || text <= after) continue;
    names.push(text);
    if (names.length >= 2 * most) names = lowest();
  }
  return lowest();
}

function decoded(utf8: InstanceType<typeof TextDecoder>, name: Buffer): string | null {
  try {
    return utf8.decode(name);
  } catch {
    return null;
  }
}

/** Null when it has gone meanwhile. */
async function namedEntry(folder: FileHandle, name: string): Promise<NamedEntry | null> {
  const path = within(folder, name);
  try {
    const entry = entryOf(await lstat(path, { bigint: true }));
    return { name, ...entry, target: entry.type === 'symlink' ? await readlink(path) : null };
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'EINVAL') return null;
    throw error;
  }
}
