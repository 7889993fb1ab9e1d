export interface Rate {
  readonly perSecond: number;
  /** How many may come at once after a pause. */
  readonly burst: number;
}

/** A token bucket. `now` is milliseconds of a clock that never goes back. */
export class TokenBucket {
  private readonly rate: Rate;
  private readonly now: () => number;
  private tokens: number;
  private at: number;

  constructor(rate: Rate, now: () => number = () => performance.now()) {
    this.rate = rate;
    this.now = now;
    this.tokens = rate.burst;
    this.at = now();
  }

  /** Takes as many as there are, at most `wanted`, and says how many. */
  take(wanted: number): number {
    const now = this.now();
    this.tokens = Math.min(this.rate.burst, this.tokens + ((now - this.at) / 1_000) * this.rate.perSecond);
    this.at = now;
    const taken = Math.min(wanted, Math.floor(this.tokens));
    this.tokens -= taken;
    return taken;
  }
}
