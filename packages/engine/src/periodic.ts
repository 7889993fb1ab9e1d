import type { Log } from '@lodge/ports';

export interface PeriodicOptions {
  readonly everyMs: number;
  readonly log: Log;
  /** The log message of a failed round; the next one comes all the same. */
  readonly failed: string;
  /** Makes one round. `signal` aborts when no more are wanted. */
  readonly round: (signal: AbortSignal) => Promise<unknown>;
}

/** Makes rounds at intervals, one at a time; a round that is due while the last is running is omitted. */
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

  /** Resolves when the running round has ended. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.underWay;
  }

  /** Aborts with `stop`, for work that belongs to the rounds and begins elsewhere. */
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
