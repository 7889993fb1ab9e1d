/**
 * Copies pages between a QEMU process and a snapshot's file, in a thread of its own: many small synchronous calls are
 * cheaper than asynchronous ones and would block the event loop. A failure has its code. A thread that is ended halfway
 * leaves a file that is not used and a process that never ran.
 */
import { closeSync, openSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { answerJobs } from '../../host/thread-side.ts';
import { writeFully } from '../../host/whole-reads.ts';
import { damaged } from './page-job.ts';
import type { LayJob, MemoryRegion, SavedPages, SaveJob } from './page-job.ts';
import { PageCopy } from './page-copy.ts';
import { pieceReader } from './piece-reader.ts';
import { indexEntries, pageBytes } from './pages.ts';

const maxPages = 1024;

/** Copies of which only the first pass has been made. */
let ahead: PageCopy | null = null;

async function save(job: SaveJob): Promise<SavedPages | null> {
  const begun = ahead;
  ahead = null;
  const copy = begun?.goesOnAs(job) ? begun : new PageCopy(job);
  if (begun !== copy) await begun?.close();
  try {
    await copy.pass();
    if (job.do === 'save') return await copy.end();
    ahead = copy;
    return null;
  } finally {
    if (ahead !== copy) await copy.close();
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

answerJobs(parentPort, async (asked) => {
  const job = asked as SaveJob | LayJob;
  return job.do === 'lay' ? lay(job) : save(job);
});
