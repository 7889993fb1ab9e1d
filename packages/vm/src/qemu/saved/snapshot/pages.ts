/**
 * Finds the VM's own pages of a guest's memory, and lists them for a snapshot. Pure.
 *
 * The kernel reports them in /proc/<pid>/pagemap, eight bytes a page (Documentation/admin-guide/mm/pagemap.rst): bit 63
 * present, bit 62 swapped, bit 61 a page of a file (or of shared memory). A page that a clone has written to is its own copy
 * and no longer the template file's.
 */
export const pageBytes = 4096;

/** Words of the pagemap's entries that hold the bits above. */
const present = 0x8000_0000;
const swapped = 0x4000_0000;
const ofFile = 0x2000_0000;

/** Pages one after another. */
export interface Run {
  readonly first: number;
  readonly count: number;
}

/** The runs of own pages in a piece of pagemap that begins at page `offset`. */
export function* ownRuns(entries: Uint32Array, offset: number): Generator<Run> {
  let first = -1;
  const pages = entries.length / 2;
  for (let page = 0; page < pages; page += 1) {
    // Little-endian, like every supported processor: the second word is the upper one.
    const flags = entries[page * 2 + 1]!;
    const own = (flags & (present | swapped)) !== 0 && (flags & ofFile) === 0;
    if (own === first >= 0) continue;
    if (own) {
      first = page;
      continue;
    }
    yield { first: offset + first, count: page - first };
    first = -1;
  }
  if (first >= 0) yield { first: offset + first, count: pages - first };
}

/** Makes pages that have a place in a copy ones of the VM's own, whatever the kernel says of them. */
export function markOwn(entries: Uint32Array, places: Int32Array): void {
  for (let page = 0; page < places.length; page += 1) {
    if (places[page] !== 0) entries[page * 2 + 1] = present;
  }
}

/**
 * Joins runs that are read in one call: reading a gap of a few pages costs less than another call. The pages in the gaps are
 * not the VM's own and are left out afterwards.
 */
export function* readingGroups(runs: Iterable<Run>, widestGap: number, maxPages: number): Generator<Run[]> {
  let group: Run[] = [];
  let first = 0;
  let end = 0;
  for (const run of runs) {
    for (let taken = 0; taken < run.count;) {
      const at = run.first + taken;
      if (group.length > 0 && (at - end > widestGap || at - first >= maxPages)) {
        yield group;
        group = [];
      }
      if (group.length === 0) first = at;
      const count = Math.min(run.count - taken, maxPages - (at - first));
      group.push({ first: at, count });
      end = at + count;
      taken += count;
    }
  }
  if (group.length > 0) yield group;
}

/** Set in an entry's count: the pages hold zeros and are not in the file. */
const zeros = 0x8000_0000;

/** A snapshot's list of pages in the order of its file: two words an entry, first page and count. */
export class PageIndex {
  private words = new Uint32Array(4096);
  private length = 0;

  add(first: number, count: number, isZero: boolean): void {
    const last = this.length - 2;
    const kind = isZero ? zeros : 0;
    if (last >= 0 && (this.words[last + 1]! & zeros) >>> 0 === kind) {
      const lastCount = this.words[last + 1]! & ~zeros;
      if (this.words[last]! + lastCount === first) {
        this.words[last + 1] = (lastCount + count) | kind;
        return;
      }
    }
    if (this.length === this.words.length) {
      const longer = new Uint32Array(this.words.length * 2);
      longer.set(this.words);
      this.words = longer;
    }
    this.words[this.length] = first;
    this.words[this.length + 1] = count | kind;
    this.length += 2;
  }

  toWords(): Uint32Array {
    return this.words.slice(0, this.length);
  }
}

export function* indexEntries(words: Uint32Array): Generator<Run & { readonly isZero: boolean }> {
  for (let at = 0; at + 1 < words.length; at += 2) {
    yield {
      first: words[at]!,
      count: words[at + 1]! & ~zeros,
      isZero: (words[at + 1]! & zeros) !== 0,
    };
  }
}

/** Whether a page holds nothing but zeros. */
export function isZeroPage(words: Int32Array, page: number): boolean {
  const end = (page + 1) * (pageBytes / 4);
  for (let at = page * (pageBytes / 4); at < end; at += 1) if (words[at] !== 0) return false;
  return true;
}
