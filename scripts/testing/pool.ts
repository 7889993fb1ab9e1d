/**
 * Runs files beside one another. The longest begins first, and a file begins only when the cores that are left suffice for it:
 * a file that boots machines stands beside files that wait.
 */
/** How much room a job takes. */
export interface Place {
  /** Wall seconds that it takes; the longest begins first. */
  readonly seconds: number;
  /** It keeps so much of a core busy meanwhile. */
  readonly cores: number;
}

export interface Job {
  readonly cost: Place;
  /** It begins only when these are over. */
  readonly after: readonly Job[];
  run(): Promise<void>;
}

export interface Bounds {
  readonly cores: number;
  readonly jobs: number;
}

export async function runAll(jobs: readonly Job[], bounds: Bounds): Promise<void> {
  const waiting = jobs.toSorted((a, b) => b.cost.seconds - a.cost.seconds);
  const running = new Map<Job, Promise<unknown>>();
  const isOver = (job: Job): boolean => !waiting.includes(job) && !running.has(job);
  const fits = ({ cost, after }: Job): boolean => {
    if (!after.every(isOver)) return false;
    const busy = [...running.keys()].reduce((sum, job) => sum + job.cost.cores, 0);
    return running.size === 0 || (running.size < bounds.jobs && busy + cost.cores <= bounds.cores);
  };
  while (waiting.length > 0) {
    const next = waiting.findIndex(fits);
    if (next < 0) {
      await Promise.race(running.values());
      continue;
    }
    const [job] = waiting.splice(next, 1) as [Job];
    running.set(
      job,
      job.run().finally(() => running.delete(job)),
    );
  }
  await Promise.all(running.values());
}
