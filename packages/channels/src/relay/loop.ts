import type { Log } from '@lodge/ports';
import { pause } from '../shared/backoff.ts';

export interface LoopOptions {
  readonly name: string;
  readonly everyMs: number;
  /** Least time between two runs, however often it is woken. */
  readonly gapMs: number;
  readonly log: Log;
}

/** Repeats work: after a time, or at once when it is woken. A failure is logged, and the loop goes on. */
export class Loop {
  private readonly options: LoopOptions;
  private readonly ending = new AbortController();
  private waking = new AbortController();
  private readonly running: Promise<void>;

  /** `work` may return how soon it wants to run again, in ms. */
  constructor(options: LoopOptions, work: () => Promise<number | void>) {
    this.options = options;
    this.running = this.run(work);
  }

  wake(): void {
    this.waking.abort();
  }

  /** Resolves when the running work has ended. */
  async end(): Promise<void> {
    this.ending.abort();
    this.waking.abort();
    await this.running;
  }

  private async run(work: () => Promise<number | void>): Promise<void> {
    const { name, everyMs, gapMs, log } = this.options;
    const { signal } = this.ending;
    while (!signal.aborted) {
      // The new signal is made before the work, so that a wake during the work causes one more run.
      this.waking = new AbortController();
      let waitMs = everyMs;
      try {
        waitMs = (await work()) ?? everyMs;
      } catch (error) {
        log.warn({ err: error, work: name }, 'a part of the relay failed, and is tried again');
        await pause(Math.min(everyMs, 1_000), signal);
        continue;
      }
      if (gapMs > 0) await pause(gapMs, signal);
      await pause(waitMs - gapMs, this.waking.signal);
    }
  }
}
