/** The file of a snapshot's pages in the making, for threads. */
import { fdatasync, fsyncSync, writeSync } from 'node:fs';
import { setImmediate as breath } from 'node:timers/promises';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { chunkBytes } from './page-job.ts';
import type { SavedPages } from './page-job.ts';
import { PageIndex } from './pages.ts';

/** Bytes that are written before the disk is asked to store them. */
const syncBytes = 16 << 20;

export class PageFile {
  readonly index = new PageIndex();
  bytes = 0;
  private readonly file: number;
  private readonly isSynced: boolean;
  private readonly chunk = Buffer.alloc(chunkBytes);
  private readonly sums: number[] = [];
  private filled = 0;
  private unsynced = 0;
  private syncing: Promise<void> | null = null;
  private failure: Error | null = null;

  /** `isSynced`: all of it is on the disk when it ends. */
  constructor(file: number, isSynced = true) {
    this.file = file;
    this.isSynced = isSynced;
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
    await this.settle();
    if (this.failure) throw this.failure;
    if (this.isSynced) fsyncSync(this.file);
    return { bytes: this.bytes, index: this.index.toWords(), sums: Uint32Array.from(this.sums) };
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
