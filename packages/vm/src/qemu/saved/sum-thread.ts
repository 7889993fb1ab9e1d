/** Computes SHA-256 of files in a thread, because gigabytes are read. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { answerJobs } from '../host/thread-side.ts';
import { withoutBackingName } from './backing.ts';
import type { SumJob } from './sums.ts';

answerJobs(parentPort, async (asked) => {
  const { paths, of } = asked as SumJob;
  return paths.map((path) => sumOf(path, of));
});

function sumOf(path: string, of: SumJob['of']): string {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(1 << 20);
  const file = openSync(path, 'r');
  try {
    for (let at = 0; ;) {
      const bytes = readSync(file, buffer, 0, buffer.length, at);
      if (bytes === 0) return hash.digest('hex');
      const part = buffer.subarray(0, bytes);
      hash.update(of === 'layers' && at === 0 ? withoutBackingName(part) : part);
      at += bytes;
    }
  } finally {
    closeSync(file);
  }
}
