/**
 * Makes the memory of a saved machine one file that many machines map, and checks such files, in a thread of its own: gigabytes
 * are read and written.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { answerJobs } from '../../host/thread-side.ts';
import { chunkBytes, damaged } from '../snapshot/page-job.ts';
import type { SavedPages } from '../snapshot/page-job.ts';
import { PageFile } from '../snapshot/page-file.ts';
import { indexEntries, pageBytes } from '../snapshot/pages.ts';
import type { CheckJob, MadeWhole, MakeJob } from './whole.ts';

/** Pages that are copied by one call. */
const maxPages = 256;

async function make({ wholePages, pagesPath, pages, wholePath, restPath }: MakeJob): Promise<MadeWhole> {
  const files = [
    openSync(wholePath, 'r+'),
    openSync(pagesPath, 'r'),
    openSync(restPath, 'w', 0o600),
  ] as const;
  const [whole, source, rest] = files;
  const file = new PageFile(rest);
  try {
    ftruncateSync(whole, wholePages * pageBytes);
    const read = reader(source, pages);
    for (const { first, count, isZero } of indexEntries(pages.index)) {
      for (let done = 0; done < count;) {
        const page = first + done;
        const inWhole = page < wholePages;
        const part = Math.min(count - done, maxPages, inWhole ? wholePages - page : Infinity);
        const bytes = isZero ? Buffer.alloc(part * pageBytes) : read(part * pageBytes);
        if (inWhole) writeFully(whole, bytes, page * pageBytes);
        else file.index.add(page, part, isZero);
        if (!inWhole && !isZero) file.add(bytes);
        if (!inWhole) await file.syncOn();
        done += part;
      }
    }
    const sums = sumsOf(whole, wholePages * pageBytes);
    fsyncSync(whole);
    return { sums, rest: await file.end() };
  } finally {
    await file.settle();
    for (const each of files) closeSync(each);
  }
}

/** Reads the pages' file in order, and checks each piece before any of it is used. */
function reader(file: number, { bytes, sums }: SavedPages): (bytes: number) => Buffer {
  const chunk = Buffer.alloc(chunkBytes);
  let at = 0;
  let left = chunk.subarray(0, 0);
  const next = (): void => {
    left = chunk.subarray(0, Math.min(chunkBytes, bytes - at));
    if (left.length === 0 || readFully(file, left, at) !== left.length) throw new Error(damaged);
    if (crc32(left) !== sums[at / chunkBytes]) throw new Error(damaged);
    at += left.length;
  };
  return (wanted) => {
    const taken = Buffer.alloc(wanted);
    for (let filled = 0; filled < wanted;) {
      if (left.length === 0) next();
      const part = left.subarray(0, wanted - filled);
      taken.set(part, filled);
      filled += part.length;
      left = left.subarray(part.length);
    }
    return taken;
  };
}

/** CRC-32 of each MiB. */
function sumsOf(file: number, bytes: number): Uint32Array {
  const sums = new Uint32Array(Math.ceil(bytes / chunkBytes));
  const chunk = Buffer.alloc(chunkBytes);
  for (let piece = 0; piece < sums.length; piece += 1) {
    const got = readFully(file, chunk, piece * chunkBytes);
    sums[piece] = crc32(chunk.subarray(0, got));
  }
  return sums;
}

function check({ path, bytes }: CheckJob): Uint32Array {
  const file = openSync(path, 'r');
  try {
    return sumsOf(file, bytes);
  } finally {
    closeSync(file);
  }
}

function readFully(file: number, into: Buffer, position: number): number {
  let got = 0;
  while (got < into.length) {
    const bytes = readSync(file, into, got, into.length - got, position + got);
    if (bytes === 0) break;
    got += bytes;
  }
  return got;
}

function writeFully(file: number, from: Buffer, position: number): void {
  for (let put = 0; put < from.length;) put += writeSync(file, from, put, from.length - put, position + put);
}

answerJobs(parentPort, async (asked) => {
  const job = asked as MakeJob | CheckJob;
  return job.do === 'make' ? make(job) : check(job);
});
