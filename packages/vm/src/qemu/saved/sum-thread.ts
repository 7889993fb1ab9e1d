/** Computes SHA-256 of files in a thread, because gigabytes are read. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { answerJobs } from '../host/thread-side.ts';

answerJobs(parentPort, async (paths) => (paths as readonly string[]).map(sumOf));

function sumOf(path: string): string {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(1 << 20);
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const bytes = readSync(file, buffer);
      if (bytes === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytes));
    }
  } finally {
    closeSync(file);
  }
}
