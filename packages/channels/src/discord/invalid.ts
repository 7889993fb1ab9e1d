/** Discord counts answers of 401, 403 and 429 within ten minutes, and bans an address for 10,000 of them. */
const windowMs = 10 * 60_000;
/** Other processes may share the address. */
const maxInWindow = 5_000;

/** Counts them for all bots of a process. See docs.discord.com/developers/topics/rate-limits. */
export class InvalidRequests {
  private readonly now: () => number;
  private readonly most: number;
  private begunAt = -Infinity;
  private counted = 0;

  constructor(most: number = maxInWindow, now: () => number = Date.now) {
    this.most = most;
    this.now = now;
  }

  count(status: number): void {
    if (status !== 401 && status !== 403 && status !== 429) return;
    if (this.now() - this.begunAt >= windowMs) {
      this.begunAt = this.now();
      this.counted = 0;
    }
    this.counted += 1;
  }

  /** Whether nothing may be called for now. */
  mustRest(): boolean {
    return this.counted >= this.most && this.restMs() > 0;
  }

  restMs(): number {
    return Math.max(0, this.begunAt + windowMs - this.now());
  }
}
