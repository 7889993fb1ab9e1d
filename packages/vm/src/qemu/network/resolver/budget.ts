/** Tokens that come back over time. `take` says whether there was one. */
export class Budget {
  private readonly perSecond: number;
  private readonly most: number;
  private tokens: number;
  private at = performance.now();

  constructor({ perSecond, most }: { readonly perSecond: number; readonly most: number }) {
    this.perSecond = perSecond;
    this.most = most;
    this.tokens = most;
  }

  take(): boolean {
    const now = performance.now();
    this.tokens = Math.min(this.most, this.tokens + ((now - this.at) / 1000) * this.perSecond);
    this.at = now;
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }
}
