/** The file of a snapshot's pages in the making, for threads. */
import { fdatasync, fsyncSync, writeSync } from 'node:fs';
import { setImmediate as breath } from 'node:timers/promises';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { readSome, writeFully } from '../../host/whole-reads.ts';
import { chunkBytes, damaged } from './page-job.ts';
import type { SavedPages } from './page-job.ts';
import { pageBytes, PageIndex } from './pages.ts';

/** Bytes that are written before the disk is asked to store them. */
const syncBytes = 16 << 20;

export class PageFile {
  readonly index = new PageIndex();
  bytes = 0;
  private readonly file: number;
  private readonly isSynced: boolean;
  private readonly chunk = Buffer.alloc(chunkBytes);
  private readonly sums: number[] = [];
  /** Pieces with a page that was replaced since they were summed. */
  private readonly stale = new Set<number>();
  private readonly there = Buffer.alloc(chunkBytes);
  private filled = 0;
  private unsynced = 0;
  private syncing: Promise<void> | null = null;
  private failure: Error | null = null;

  /** The file is open for reading, too, where pages are replaced. `isSynced`: all of it is on the disk when it ends. */
  constructor(file: number, isSynced = true) {
    this.file = file;
    this.isSynced = isSynced;
  }

  /** The number of pages so far. */
  get pages(): number {
    return (this.bytes + this.filled) / pageBytes;
  }

  add(pages: Buffer): void {
    for (let taken = 0; taken < pages.length;) {
      const part = pages.subarray(taken, taken + chunkBytes - this.filled);
      this.chunk.set(part, this.filled);
      taken += part.length;
      this.filled += part.length;
      if (this.filled === chunkBytes) this.flush();
    }
  }

  /** Writes those of the pages that differ from the ones that are there, from the page `first` of the file on. */
  replace(first: number, pages: Buffer): void {
    for (let taken = 0; taken < pages.length;) {
      const at = first * pageBytes + taken;
      const [piece, offset] = [Math.floor(at / chunkBytes), at % chunkBytes];
      const part = pages.subarray(taken, taken + chunkBytes - offset);
      if (at >= this.bytes) this.chunk.set(part, offset);
      else if (this.replaceWithin(at, part)) this.stale.add(piece);
      taken += part.length;
    }
  }

  /** Makes the disk store the written part of the file while more is copied. */
  async syncOn(): Promise<void> {
    if (!this.isSynced || this.unsynced < syncBytes) return;
    // This lets the end of the last sync arrive.
    await breath();
    if (this.failure) throw this.failure;
    if (this.syncing) return;
    this.unsynced = 0;
    const ended = (failure: Error | null): void => {
      this.syncing = null;
      this.failure = failure;
    };
    this.syncing = promisify(fdatasync)(this.file).then(() => ended(null), ended);
  }

  /** Resolves when the file is no longer in use. */
  async settle(): Promise<void> {
    await this.syncing;
  }

  async end(): Promise<SavedPages> {
    this.flush();
    for (const piece of this.stale) this.sums[piece] = crc32(this.read(piece * chunkBytes, chunkBytes));
    await this.settle();
    if (this.failure) throw this.failure;
    if (this.isSynced) fsyncSync(this.file);
    return { bytes: this.bytes, index: this.index.toWords(), sums: Uint32Array.from(this.sums) };
  }

  /** Returns whether any of the pages differed. They lie within one piece, which is written. */
  private replaceWithin(at: number, pages: Buffer): boolean {
    const there = this.read(at, pages.length);
    if (pages.equals(there)) return false;
    for (let offset = 0; offset < pages.length; offset += pageBytes) {
      const page = pages.subarray(offset, offset + pageBytes);
      if (!page.equals(there.subarray(offset, offset + pageBytes))) writeFully(this.file, page, at + offset);
    }
    return true;
  }

  /** Reads up to a piece. The bytes hold until the next call. */
  private read(at: number, most: number): Buffer {
    const into = this.there.subarray(0, Math.min(most, this.bytes - at));
    if (readSome(this.file, into, at) !== into.length) throw new Error(damaged);
    return into;
  }

  private flush(): void {
    const chunk = this.chunk.subarray(0, this.filled);
    if (chunk.length === 0) return;
    this.sums.push(crc32(chunk));
    for (let written = 0; written < chunk.length;) written += writeSync(this.file, chunk, written);
    this.bytes += chunk.length;
    this.unsynced += chunk.length;
    this.filled = 0;
  }
}
