/** Makes parts of one image at the same time, because they wait for different mirrors. */
import type { ReportProgress } from '@lodge/ports';

/** Runs all works. When one fails it ends the others, waits until all have ended, and rejects with that failure. */
export async function runAll<T>(
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

/**
 * Returns one progress for each of `count` works of the same weight. Their words take turns, and the fraction is that of
 * all.
 */
export function sideBySide(progress: ReportProgress, count: number): ReportProgress[] {
  const done = Array.from({ length: count }, () => 0);
  return done.map((_, index) => (step, fraction = 0) => {
    done[index] = Math.max(done[index]!, fraction);
    progress(step, done.reduce((sum, each) => sum + each, 0) / count);
  });
}
