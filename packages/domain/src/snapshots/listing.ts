/**
 * Listings of a workspace, as its guest gives them: records of `type size mtime path`, each ended by a zero byte, in any order
 * and cut off at some length. The guest chose every byte, so a record that is none is passed over. All of it takes linear time,
 * and the steps are generators, so that the caller may pause between two records.
 */

export type ListedType = 'file' | 'directory' | 'symlink' | 'other';

/** The entry at a path of the workspace. */
export interface ListedFile {
  readonly path: string;
  readonly type: ListedType;
  /** Bytes. */
  readonly size: number;
  /** Unix time, ms, within the years 1970 to 9999. */
  readonly modifiedMs: number;
}

/** Entries that are read of a listing at most. */
export const maxListedFiles = 200_000;

const longestPath = 4096;
/** Longest record: type, size and time before a path, whose characters may be pairs. */
const longestRecord = longestPath + 80;
const latestMs = 253_402_300_799_999;
const types: Readonly<Partial<Record<string, ListedType>>> = { f: 'file', d: 'directory', l: 'symlink' };

/** Yields each record's entry; null for one that is none. A last record without its end is left out. */
export function* listedFiles(text: string): Generator<ListedFile | null, void> {
  let from = 0;
  for (let end = text.indexOf('\0'); end !== -1; end = text.indexOf('\0', from)) {
    yield end - from > longestRecord ? null : listedFile(text.slice(from, end));
    from = end + 1;
  }
}

function listedFile(record: string): ListedFile | null {
  const afterType = record.indexOf(' ');
  const afterSize = record.indexOf(' ', afterType + 1);
  const afterTime = record.indexOf(' ', afterSize + 1);
  if (afterType !== 1 || afterSize === -1 || afterTime === -1) return null;
  const size = record.slice(afterType + 1, afterSize);
  const [seconds = '', fraction = ''] = record.slice(afterSize + 1, afterTime).split('.', 2);
  const path = record.slice(afterTime + 1);
  if (!/^\d{1,15}$/.test(size) || !/^-?\d{1,12}$/.test(seconds) || !isListedPath(path)) return null;
  const ms = Number(seconds) * 1000 + (/^\d{1,12}$/.test(fraction) ? Number(fraction.slice(0, 3).padEnd(3, '0')) : 0);
  return { path, type: types[record[0]!] ?? 'other', size: Number(size), modifiedMs: boundedMs(ms) };
}

/** The time of an entry within the years that a reply can say. */
export const boundedMs = (ms: number): number => (ms > 0 ? Math.min(Math.floor(ms), latestMs) : 0);

/** Whether it is a relative path of whole names. One that is not UTF-8 has replacements in it and cannot be asked for. */
function isListedPath(path: string): boolean {
  if (path.length > longestPath || path.includes('\u{FFFD}') || !path.isWellFormed()) return false;
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

export type FileChange = 'added' | 'removed' | 'changed';

/** A path at which two workspaces differ, with its size in the later one, or in the earlier one if it was removed. */
export interface ChangedFile {
  readonly path: string;
  readonly change: FileChange;
  readonly size: number;
}

/** Yields each difference; null for a path without one. A folder differs where it is there or is none. */
export function* fileChanges(
  earlier: ReadonlyMap<string, ListedFile>,
  later: ReadonlyMap<string, ListedFile>,
): Generator<ChangedFile | null, void> {
  for (const [path, { size }] of earlier) yield later.has(path) ? null : { path, change: 'removed', size };
  for (const [path, file] of later) {
    const before = earlier.get(path);
    const { size } = file;
    if (before === undefined) yield { path, change: 'added', size };
    else yield isSame(before, file) ? null : { path, change: 'changed', size };
  }
}

function isSame(before: ListedFile, { type, size, modifiedMs }: ListedFile): boolean {
  if (before.type !== type) return false;
  return type === 'directory' || (before.size === size && before.modifiedMs === modifiedMs);
}

/** Keeps the `limit` entries with the lowest keys. It never holds more than twice as many. */
export class Lowest<Item> {
  readonly #limit: number;
  readonly #keyOf: (item: Item) => string;
  #items: Item[] = [];
  #isCut = false;

  constructor(limit: number, keyOf: (item: Item) => string) {
    this.#limit = limit;
    this.#keyOf = keyOf;
  }

  add(item: Item): void {
    this.#items.push(item);
    if (this.#items.length >= 2 * this.#limit) this.#cut();
  }

  /** The entries by their keys, in UTF-16 code units, and whether there were more. */
  take(): { readonly items: readonly Item[]; readonly isCut: boolean } {
    this.#cut();
    return { items: this.#items, isCut: this.#isCut };
  }

  #cut(): void {
    const sorted = this.#items.toSorted((a, b) => (this.#keyOf(a) < this.#keyOf(b) ? -1 : 1));
    this.#isCut ||= sorted.length > this.#limit;
    this.#items = sorted.slice(0, this.#limit);
  }
}
