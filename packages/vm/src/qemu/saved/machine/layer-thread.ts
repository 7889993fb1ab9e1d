/** Computes the sums of disks' layers in a thread, because gigabytes are read. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { answerJobs } from '../../host/thread-side.ts';
import { withoutBackingName } from '../backing.ts';

answerJobs(parentPort, async (paths) => (paths as readonly string[]).map(sumOf));

/** SHA-256 of a qcow2 file but for the name of the file beneath, which changes when the data folder is moved. */
function sumOf(path: string): string {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(1 << 20);
  const file = openSync(path, 'r');
  try {
    for (let at = 0; ;) {
      const bytes = readSync(file, buffer, 0, buffer.length, at);
      if (bytes === 0) return hash.digest('hex');
      const part = buffer.subarray(0, bytes);
      hash.update(at === 0 ? withoutBackingName(part) : part);
      at += bytes;
    }
  } finally {
    closeSync(file);
  }
}
