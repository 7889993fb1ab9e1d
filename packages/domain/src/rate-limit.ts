/** Token buckets: pure arithmetic. A request takes one token; tokens come back evenly, up to the bucket's capacity. */

/** A bucket that begins full with a minute's worth. */
export interface RateRule {
  readonly perMinute: number;
}

/** Tokens there are after `elapsedMs` without a request. */
export function refilled(tokens: number, { perMinute }: RateRule, elapsedMs: number): number {
  return Math.min(perMinute, tokens + (Math.max(0, elapsedMs) * perMinute) / 60_000);
}

/** Milliseconds until `wanted` tokens are there again; 0 when they are. */
export function waitFor(tokens: number, { perMinute }: RateRule, wanted: number): number {
  return Math.max(0, Math.ceil(((wanted - tokens) * 60_000) / perMinute));
}

/**
 * Tokens that one server process takes from a shared bucket at a time: a tenth of it. What another process holds may be
 * missing here, so a client is refused at most that much too early; it is never let through too often.
 */
export function sliceOf({ perMinute }: RateRule): number {
  return Math.max(1, Math.ceil(perMinute / 10));
}
