import type { Log } from '@lodge/ports';

export interface RoundsOptions {
  readonly everyMs: number;
  readonly log: Log;
  /** The log message of a failed round; the next one comes all the same. */
  readonly failed: string;
}

/** Makes rounds at intervals, one at a time; a round that is due while the last is running is omitted. */
export abstract class Rounds {
  private readonly options: RoundsOptions;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | null = null;

  constructor(options: RoundsOptions) {
    this.options = options;
  }

  /** Makes one round. `signal` aborts when no more are wanted. */
  protected abstract round(signal: AbortSignal): Promise<unknown>;

  start(): void {
    this.timer = setInterval(() => {
      this.underWay ??= this.roundOrWarning().finally(() => {
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

  private async roundOrWarning(): Promise<void> {
    try {
      await this.round(this.signal);
    } catch (error) {
      const { log, failed } = this.options;
      if (!this.signal.aborted) log.warn({ err: error }, failed);
    }
  }
}

export interface PeriodicOptions extends RoundsOptions {
  readonly round: (signal: AbortSignal) => Promise<unknown>;
}

/** Rounds of a function. */
export class Periodic extends Rounds {
  protected readonly round: PeriodicOptions['round'];

  constructor(options: PeriodicOptions) {
    super(options);
    this.round = options.round;
  }
}
