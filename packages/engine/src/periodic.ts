import type { Log } from '@lodge/ports';

export interface PeriodicOptions {
  readonly everyMs: number;
  readonly log: Log;
  /** What a round that failed is logged as; the next one comes all the same. */
  readonly failed: string;
  /** One round. `signal` aborts when no more are wanted. */
  readonly round: (signal: AbortSignal) => Promise<unknown>;
}

/** Rounds at intervals, one at a time: one that is due while the last is under way is left out. */
export class Periodic {
  private readonly options: PeriodicOptions;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | null = null;

  constructor(options: PeriodicOptions) {
    this.options = options;
  }

  start(): void {
    this.timer = setInterval(() => {
      this.underWay ??= this.round().finally(() => {
        this.underWay = null;
      });
    }, this.options.everyMs);
  }

  /** Resolves when the round under way has ended. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.underWay;
  }

  /** Aborts with `stop`, for work that belongs to the rounds and is begun elsewhere. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  private async round(): Promise<void> {
    const { round, log, failed } = this.options;
    try {
      await round(this.signal);
    } catch (error) {
      if (!this.signal.aborted) log.warn({ err: error }, failed);
    }
  }
}
