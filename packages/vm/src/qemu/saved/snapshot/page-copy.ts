/**
 * A copy of a VM's own pages in the making, for threads. The first pass copies all of them, and each further one writes what
 * differs since: a page is compared with its copy, byte by byte, so a pass over a guest that runs may read torn pages, and the
 * last one, over a guest that stands still, is exact. The kernel could tell the pages that were written since
 * (soft-dirty bits of the pagemap), but not every kernel is built with that.
 */
import { closeSync, openSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { readSome } from '../../host/whole-reads.ts';
import type { MemoryRegion, SavedPages, SaveJob } from './page-job.ts';
import { PageFile } from './page-file.ts';
import { isZeroPage, markOwn, ownRuns, pageBytes, readingGroups } from './pages.ts';
import type { Run } from './pages.ts';

/** Pagemap of 512 MiB of guest memory. */
const mapBytes = 1 << 20;
const maxPages = 1024;
const widestGap = 3;

/** A page that was found to hold zeros, and is in the index alone. */
const zeros = -1;

export class PageCopy {
  private readonly job: SaveJob;
  private readonly mem: number;
  private readonly pagemap: number;
  private readonly out: number;
  private readonly file: PageFile;
  private readonly buffer = Buffer.alloc(maxPages * pageBytes);
  private readonly words = new Int32Array(this.buffer.buffer, this.buffer.byteOffset, this.buffer.length / 4);
  private readonly room = Buffer.alloc(maxPages * pageBytes);
  private gatheredFirst = 0;
  private gathered = 0;
  private readonly map = new Uint32Array(mapBytes / 4);
  /** For each page of all regions: 0 where it is not copied, one more than its place in the file, or `zeros`. */
  private readonly places: Int32Array;

  constructor(job: SaveJob) {
    this.job = job;
    const files = [
      openSync(`/proc/${job.pid}/mem`, 'r'),
      openSync(`/proc/${job.pid}/pagemap`, 'r'),
      openSync(job.path, 'w+', 0o600),
    ] as const;
    [this.mem, this.pagemap, this.out] = files;
    this.file = new PageFile(this.out, job.isSynced);
    this.places = new Int32Array(job.regions.reduce((sum, { bytes }) => sum + bytes, 0) / pageBytes);
  }

  /** Whether the job is one of the same memory into the same file. */
  goesOnAs({ pid, path, regions }: SaveJob): boolean {
    const { job } = this;
    return pid === job.pid && path === job.path && isDeepStrictEqual(regions, job.regions);
  }

  async pass(): Promise<void> {
    let firstPage = 0;
    for (const region of this.job.regions) {
      await this.passRegion(region, firstPage);
      firstPage += region.bytes / pageBytes;
    }
  }

  end(): Promise<SavedPages> {
    return this.file.end();
  }

  async close(): Promise<void> {
    await this.file.settle();
    for (const each of [this.mem, this.pagemap, this.out]) closeSync(each);
  }

  private async passRegion(region: MemoryRegion, firstPage: number): Promise<void> {
    const pages = region.bytes / pageBytes;
    for (let offset = 0; offset < pages; offset += mapBytes / 8) {
      const count = Math.min(mapBytes / 8, pages - offset);
      const entries = this.map.subarray(0, count * 2);
      readFully(this.pagemap, entries, (region.address / pageBytes + offset) * 8);
      // A guest can give a page back. It has what lies beneath then, and the copy has what it was.
      markOwn(entries, this.places.subarray(firstPage + offset, firstPage + offset + count));
      for (const group of readingGroups(ownRuns(entries, offset), widestGap, maxPages)) {
        const first = group[0]!.first;
        const last = group.at(-1)!;
        const bytes = (last.first + last.count - first) * pageBytes;
        readFully(this.mem, this.buffer.subarray(0, bytes), region.address + first * pageBytes);
        for (const run of group) this.put(run, first, firstPage, region.blank);
        this.compareGathered();
        await this.file.syncOn();
      }
    }
  }

  /** Takes a run of a region's pages that were read: `read` is the first page in the buffer. */
  private put({ first, count }: Run, read: number, firstPage: number, isBlank: boolean): void {
    for (const { at, length, place } of this.spans(firstPage + first, count)) {
      const begin = at - firstPage - read;
      if (place > 0) this.gather(place - 1, this.bytesAt(begin, length));
      else this.append(at, begin, length, place === zeros ? false : !isBlank);
    }
  }

  /** Puts pages that are in the file one after another together: one call compares them. A group of pages has room. */
  private gather(place: number, pages: Buffer): void {
    if (place !== this.gatheredFirst + this.gathered / pageBytes) {
      this.compareGathered();
      this.gatheredFirst = place;
    }
    this.room.set(pages, this.gathered);
    this.gathered += pages.length;
  }

  private compareGathered(): void {
    if (this.gathered > 0) this.file.replace(this.gatheredFirst, this.room.subarray(0, this.gathered));
    this.gathered = 0;
  }

  /** Pages one after another that are in the file one after another, or that are not in it for one reason. */
  private *spans(first: number, count: number) {
    for (let at = first; at < first + count;) {
      const place = this.places[at]!;
      const step = place > 0 ? 1 : 0;
      let length = 1;
      while (at + length < first + count && this.places[at + length] === place + length * step) length += 1;
      yield { at, length, place };
      at += length;
    }
  }

  /** Those of zeros are listed where `areListed`, and where they are listed already they need no second entry. */
  private append(at: number, begin: number, length: number, areListed: boolean): void {
    for (const { first, count, isZero } of partsOf(this.words, begin, length)) {
      const page = at + first - begin;
      if (isZero && !areListed) continue;
      const place = isZero ? zeros : this.file.pages + 1;
      for (let each = 0; each < count; each += 1) this.places[page + each] = isZero ? place : place + each;
      this.file.index.add(page, count, isZero);
      if (!isZero) this.file.add(this.bytesAt(first, count));
    }
  }

  private bytesAt(first: number, count: number): Buffer {
    return this.buffer.subarray(first * pageBytes, (first + count) * pageBytes);
  }
}

/** The parts of a run that are zeros and the others, in order. */
function* partsOf(words: Int32Array, first: number, count: number) {
  let begin = first;
  let isZero = isZeroPage(words, first);
  for (let page = first + 1; page <= first + count; page += 1) {
    const next = page < first + count && isZeroPage(words, page);
    if (page < first + count && next === isZero) continue;
    yield { first: begin, count: page - begin, isZero };
    begin = page;
    isZero = next;
  }
}

function readFully(file: number, into: NodeJS.ArrayBufferView, position: number): void {
  if (readSome(file, into, position) !== into.byteLength) throw new Error('the VM’s memory ends too early');
}
