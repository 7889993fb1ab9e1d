/** Checks, packs and joins the memory of saved machines, in a thread of its own: gigabytes are read and written. */
import { closeSync, fsyncSync, ftruncateSync, openSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { constants as zlib, crc32, zstdCompressSync } from 'node:zlib';
import { answerJobs } from '../../host/thread-side.ts';
import { readSome, writeFully } from '../../host/whole-reads.ts';
import { chunkBytes } from '../snapshot/page-job.ts';
import type { SavedPages } from '../snapshot/page-job.ts';
import { PageFile } from '../snapshot/page-file.ts';
import { indexEntries, pageBytes } from '../snapshot/pages.ts';
import { pieceReader } from '../snapshot/piece-reader.ts';
import type { CheckJob, MadeWhole, MakeJob, PackJob, PagesJob } from './memory-jobs.ts';

/** Pages that are copied by one call. */
const maxPages = 256;
/** zstd's fastest of the plain levels: four times smaller, a second per gigabyte. */
const level = 1;

async function make({ wholePages, pagesPath, pages, wholePath, restPath }: MakeJob): Promise<MadeWhole> {
  const files = [openSync(wholePath, 'r+'), openSync(pagesPath, 'r'), openSync(restPath, 'w', 0o600)] as const;
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

/** Reads so many bytes of pages, in order. */
function reader(file: number, pages: SavedPages): (bytes: number) => Buffer {
  const next = pieceReader(file, pages);
  let left: Buffer = Buffer.alloc(0);
  return (wanted) => {
    const taken = Buffer.alloc(wanted);
    for (let filled = 0; filled < wanted;) {
      if (left.length === 0) left = next();
      const part = left.subarray(0, wanted - filled);
      taken.set(part, filled);
      filled += part.length;
      left = left.subarray(part.length);
    }
    return taken;
  };
}

/** Reads all pages once; throws `damaged`. */
function checkPages({ path, pages }: PagesJob): number {
  const file = openSync(path, 'r');
  try {
    const next = pieceReader(file, pages);
    for (let read = 0; read < pages.bytes;) read += next().length;
    return pages.bytes;
  } finally {
    closeSync(file);
  }
}

/** Packs each piece as a frame of its own, by what others leave of the processor; returns the length of each frame. */
function pack({ path, pages, packedPath }: PackJob): Uint32Array {
  // On Linux this is the niceness of the calling thread.
  setPriority(constants.priority.PRIORITY_LOW);
  const [source, out] = [openSync(path, 'r'), openSync(packedPath, 'w', 0o600)];
  const lengths = new Uint32Array(pages.sums.length);
  try {
    const next = pieceReader(source, pages);
    let at = 0;
    for (let piece = 0; piece < lengths.length; piece += 1) {
      const frame = zstdCompressSync(next(), { params: { [zlib.ZSTD_c_compressionLevel]: level } });
      writeFully(out, frame, at);
      lengths[piece] = frame.length;
      at += frame.length;
    }
    fsyncSync(out);
    return lengths;
  } finally {
    for (const each of [source, out]) closeSync(each);
  }
}

/** CRC-32 of each MiB. */
function sumsOf(file: number, bytes: number): Uint32Array {
  const sums = new Uint32Array(Math.ceil(bytes / chunkBytes));
  const chunk = Buffer.alloc(chunkBytes);
  for (let piece = 0; piece < sums.length; piece += 1) {
    const got = readSome(file, chunk, piece * chunkBytes);
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

answerJobs(parentPort, async (asked) => {
  const job = asked as MakeJob | CheckJob | PagesJob | PackJob;
  switch (job.do) {
    case 'make':
      return make(job);
    case 'check':
      return check(job);
    case 'check-pages':
      return checkPages(job);
    case 'pack':
      return pack(job);
  }
});
