export interface SilenceTimings {
  /** Time without an event after which the most recent conversations are read, again and again. */
  readonly glanceAfterMs: number;
  /** Time after which all of them are. */
  readonly compareAfterMs: number;
}

/** A connection that is open and silent may have nothing to say, or be deaf. */
export type Look = 'glance' | 'silence';

/** Says when histories must be read because nothing was heard. */
export class Silence {
  /** How often to ask. */
  readonly everyMs: number;
  private readonly timings: SilenceTimings;
  private heardAt = performance.now();
  private glancedAt = performance.now();
  private comparedAt = performance.now();

  constructor(timings: SilenceTimings) {
    this.timings = timings;
    this.everyMs = Math.min(timings.glanceAfterMs, timings.compareAfterMs) / 4;
  }

  heard(): void {
    this.heardAt = performance.now();
  }

  /** Null: nothing. If something could not be read before, everything is read now. */
  due(hasUnread: boolean): Look | null {
    const now = performance.now();
    if (hasUnread || now - Math.max(this.heardAt, this.comparedAt) >= this.timings.compareAfterMs) {
      this.comparedAt = now;
      this.glancedAt = now;
      return 'silence';
    }
    if (now - Math.max(this.heardAt, this.glancedAt) < this.timings.glanceAfterMs) return null;
    this.glancedAt = now;
    return 'glance';
  }
}
