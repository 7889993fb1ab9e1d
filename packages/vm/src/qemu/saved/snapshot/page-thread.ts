/**
 * Copies pages between a QEMU process and a snapshot's file, in a thread of its own: many small synchronous calls are
 * cheaper than asynchronous ones and would block the event loop. A failure has its code. A thread that is ended halfway
 * leaves a file that is not used and a process that never ran.
 */
import { closeSync, openSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { answerJobs } from '../../host/thread-side.ts';
import { readSome, writeFully } from '../../host/whole-reads.ts';
import { damaged } from './page-job.ts';
import type { LayJob, MemoryRegion, SavedPages, SaveJob } from './page-job.ts';
import { PageFile } from './page-file.ts';
import { pieceReader } from './piece-reader.ts';
import { indexEntries, isZeroPage, ownRuns, pageBytes, readingGroups } from './pages.ts';

/** Pagemap of 512 MiB of guest memory. */
const mapBytes = 1 << 20;
const maxPages = 1024;
const widestGap = 8;

async function save({ pid, regions, path, isSynced }: SaveJob): Promise<SavedPages> {
  const files = [openSync(`/proc/${pid}/mem`, 'r'), openSync(`/proc/${pid}/pagemap`, 'r'), openSync(path, 'w', 0o600)];
  const [mem, pagemap, out] = files as [number, number, number];
  const file = new PageFile(out, isSynced);
  try {
    let firstPage = 0;
    for (const region of regions) {
      await saveRegion(mem, pagemap, region, firstPage, file);
      firstPage += region.bytes / pageBytes;
    }
    return await file.end();
  } finally {
    await file.settle();
    for (const each of files) closeSync(each);
  }
}

async function saveRegion(
  mem: number,
  pagemap: number,
  region: MemoryRegion,
  firstPage: number,
  file: PageFile,
): Promise<void> {
  const buffer = Buffer.alloc(maxPages * pageBytes);
  const words = new Int32Array(buffer.buffer, buffer.byteOffset, buffer.length / 4);
  const map = new Uint32Array(mapBytes / 4);
  const pages = region.bytes / pageBytes;
  for (let offset = 0; offset < pages; offset += mapBytes / 8) {
    const entries = map.subarray(0, Math.min(mapBytes / 8, pages - offset) * 2);
    readFully(pagemap, entries, (region.address / pageBytes + offset) * 8);
    for (const group of readingGroups(ownRuns(entries, offset), widestGap, maxPages)) {
      const first = group[0]!.first;
      const last = group.at(-1)!;
      const bytes = (last.first + last.count - first) * pageBytes;
      readFully(mem, buffer.subarray(0, bytes), region.address + first * pageBytes);
      for (const run of group) {
        for (const part of partsOf(words, run.first - first, run.count)) {
          if (part.isZero && region.blank) continue;
          file.index.add(firstPage + first + part.first, part.count, part.isZero);
          if (part.isZero) continue;
          file.add(buffer.subarray(part.first * pageBytes, (part.first + part.count) * pageBytes));
        }
      }
      await file.syncOn();
    }
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

function lay({ pid, regions, path, ...pages }: LayJob): number {
  const mem = openSync(`/proc/${pid}/mem`, 'r+');
  const file = openSync(path, 'r');
  const nothing = Buffer.alloc(maxPages * pageBytes);
  const nextPiece = pieceReader(file, pages);
  let read = 0;
  let left: Buffer = Buffer.alloc(0);
  try {
    for (const { first, count, isZero } of indexEntries(pages.index)) {
      for (let done = 0; done < count;) {
        if (!isZero && left.length === 0) {
          left = nextPiece();
          read += left.length;
        }
        const place = placeOf(regions, first + done);
        const wanted = Math.min((count - done) * pageBytes, place.bytes);
        const part = isZero ? nothing.subarray(0, wanted) : left.subarray(0, wanted);
        writeFully(mem, part, place.address);
        if (!isZero) left = left.subarray(part.length);
        done += part.length / pageBytes;
      }
    }
    if (read !== pages.bytes || left.length > 0) throw new Error(damaged);
    return read;
  } finally {
    closeSync(mem);
    closeSync(file);
  }
}

/** The address of a page, and how many bytes follow there. */
function placeOf(regions: readonly MemoryRegion[], page: number): { address: number; bytes: number } {
  let offset = page * pageBytes;
  for (const { address, bytes } of regions) {
    if (offset < bytes) return { address: address + offset, bytes: bytes - offset };
    offset -= bytes;
  }
  throw new Error(damaged);
}

function readFully(file: number, into: NodeJS.ArrayBufferView, position: number): void {
  if (readSome(file, into, position) !== into.byteLength) throw new Error('the VM’s memory ends too early');
}

answerJobs(parentPort, async (asked) => {
  const job = asked as SaveJob | LayJob;
  return job.do === 'save' ? save(job) : lay(job);
});
