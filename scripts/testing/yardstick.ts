/**
 * Measures how quick this machine is now: the processor seconds that a fixed piece of work takes when every core does it at once,
 * as cores do in the tests.
 */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

const rounds = 24;

/** Returns the processor seconds of one core's share. */
export async function measureYardstick(): Promise<number> {
  const shares = Array.from({ length: availableParallelism() }, async () => {
    const worker = new Worker(import.meta.filename);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    worker.once('message', resolve);
    worker.once('error', reject);
    return promise;
  });
  const seconds = await Promise.all(shares);
  return seconds.reduce((sum, each) => sum + each, 0) / seconds.length;
}

/** Mixes what tests do: objects, text, sorting and bytes. */
function work(): void {
  for (let round = 0; round < rounds; round += 1) {
    const rows = Array.from({ length: 20_000 }, (_, n) => ({ id: `agent-${(n * 7919) % 20_011}`, n, on: n % 3 === 0 }));
    const text = JSON.stringify(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    const found = text.match(/agent-\d*7"/g) ?? [];
    createHash('sha256')
      .update(JSON.stringify(JSON.parse(text)))
      .update(String(found.length))
      .digest();
  }
}

if (!isMainThread) {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  parentPort!.postMessage((user + system) / 1e6, []);
}
