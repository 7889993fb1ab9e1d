/** Token buckets as pure arithmetic. A request takes one token. Tokens come back evenly, up to the bucket's capacity. */

/** The rate of a bucket that begins full with a minute's worth. */
export interface RateRule {
  readonly perMinute: number;
}

/** The rate of a bucket that begins full with `burst`. */
export interface BucketRate {
  readonly perSecond: number;
  readonly burst: number;
}

const afterMs = (tokens: number, { perSecond, burst }: BucketRate, elapsedMs: number): number =>
  Math.min(burst, tokens + (Math.max(0, elapsedMs) * perSecond) / 1000);

/** Returns the tokens after `elapsedMs` without a request. */
export function refilled(tokens: number, { perMinute }: RateRule, elapsedMs: number): number {
  return afterMs(tokens, { perSecond: perMinute / 60, burst: perMinute }, elapsedMs);
}

/** A bucket of one process. `nowMs` is from any one clock. */
export class TokenBucket {
  private readonly rate: BucketRate;
  private tokens: number;
  private atMs: number | null = null;

  constructor(rate: BucketRate) {
    this.rate = rate;
    this.tokens = rate.burst;
  }

  /** Takes as many whole tokens as there are, at most `wanted`, and returns their number. */
  take(wanted: number, nowMs: number): number {
    this.refill(nowMs);
    const taken = Math.min(wanted, Math.floor(this.tokens));
    this.tokens -= taken;
    return taken;
  }

  /** Takes all of `amount` or nothing, and returns whether it did. */
  allows(amount: number, nowMs: number): boolean {
    this.refill(nowMs);
    if (this.tokens < amount) return false;
    this.tokens -= amount;
    return true;
  }

  private refill(nowMs: number): void {
    this.tokens = afterMs(this.tokens, this.rate, nowMs - (this.atMs ?? nowMs));
    this.atMs = nowMs;
  }
}

/** A bucket for each name. Beyond `maxNames`, the buckets that were unused longest are dropped and begin full again. */
export class TokenBuckets {
  private readonly rate: BucketRate;
  private readonly maxNames: number;
  private readonly buckets = new Map<string, TokenBucket>();

  constructor(rate: BucketRate, maxNames = 10_000) {
    this.rate = rate;
    this.maxNames = maxNames;
  }

  /** As `TokenBucket.allows`, for the bucket of that name. */
  allows(name: string, nowMs: number, amount = 1): boolean {
    const bucket = this.buckets.get(name) ?? new TokenBucket(this.rate);
    this.buckets.delete(name);
    this.buckets.set(name, bucket);
    if (this.buckets.size > this.maxNames) this.buckets.delete(this.buckets.keys().next().value!);
    return bucket.allows(amount, nowMs);
  }
}

/** Returns the milliseconds until `wanted` tokens are there; 0 when they are. */
export function waitFor(tokens: number, { perMinute }: RateRule, wanted: number): number {
  return Math.max(0, Math.ceil(((wanted - tokens) * 60_000) / perMinute));
}

/**
 * Returns the tokens that one server process takes from a shared bucket at a time: a tenth of it. Tokens of another process
 * may be missing here, so a client is refused at most that much too early. It is never admitted too often.
 */
export function sliceOf({ perMinute }: RateRule): number {
  return Math.max(1, Math.ceil(perMinute / 10));
}
