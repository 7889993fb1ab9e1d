import { atMost } from '@lodge/domain';
import type { Log } from '@lodge/ports';

interface HeldOptions<T> {
  /** The thing read, for the log. */
  readonly what: string;
  readonly read: () => Promise<T>;
  /** A value of this age is not read again. */
  readonly freshMs: number;
  /** Longest wait of a caller. A slow reading goes on, and the next caller has its value. */
  readonly waitMs: number;
  /** A value older than this is not given any more. */
  readonly staleMs: number;
  readonly log: Log;
}

/**
 * A value that is dear to read, or whose source may not answer. It is read for all callers at once, never twice at a time,
 * and only when somebody asks.
 */
export class Held<T> {
  private readonly options: HeldOptions<T>;
  private last: { readonly value: T; readonly at: number } | null = null;
  private reading: Promise<void> | null = null;

  constructor(options: HeldOptions<T>) {
    this.options = options;
  }

  /** Returns null when the source has not answered in time, or at all. */
  async get(): Promise<T | null> {
    const { freshMs, waitMs, staleMs } = this.options;
    if (this.ageMs() > freshMs) {
      this.reading ??= this.readAnew();
      await atMost(waitMs, this.reading, () => undefined);
    }
    return this.ageMs() > staleMs ? null : this.last!.value;
  }

  private ageMs(): number {
    return this.last === null ? Infinity : performance.now() - this.last.at;
  }

  private async readAnew(): Promise<void> {
    const { read, what, log } = this.options;
    try {
      this.last = { value: await read(), at: performance.now() };
    } catch (error) {
      log.warn({ err: error }, `${what} could not be read`);
    } finally {
      this.reading = null;
    }
  }
}
