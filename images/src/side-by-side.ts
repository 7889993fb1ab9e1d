/** Parts of one image that are made at the same time: they wait for different mirrors. */
import type { ReportProgress } from '@lodge/ports';

/** Ends the others where one fails, waits until all have ended, and rejects with that failure. */
export async function together<T>(
  signal: AbortSignal,
  works: readonly ((signal: AbortSignal) => Promise<T>)[],
): Promise<T[]> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const running = works.map(async (work) => {
    try {
      return await work(either);
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  });
  await Promise.allSettled(running);
  if (failed.signal.aborted) throw failed.signal.reason;
  return Promise.all(running);
}

/** One progress for each of `count` works of the same weight. What they say takes turns; how far it is, is all of them. */
export function sideBySide(progress: ReportProgress, count: number): ReportProgress[] {
  const done = Array.from({ length: count }, () => 0);
  return done.map((_, index) => (step, fraction = 0) => {
    done[index] = Math.max(done[index]!, fraction);
    progress(step, done.reduce((sum, each) => sum + each, 0) / count);
  });
}
