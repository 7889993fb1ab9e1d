/**
 * Rate limits over a bucket that all server processes share. A process takes a slice of tokens at a time and spends it
 * without asking anybody; it returns tokens that are unspent after two seconds when it asks next. So within any time T a
 * subject gets at most `perMinute + (T + 2 s) x perMinute / 60` requests through, over all processes. One process refuses
 * too early by at most the slices of the others: a tenth of the bucket each.
 */
import { refilled, sliceOf, waitFor } from '@lodge/domain';
import type { RateRule } from '@lodge/domain';
import type { LimitStore } from '@lodge/ports';

/** Where a subject stands after a request was counted, or refused. */
export interface Standing {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the whole bucket is full again. */
  readonly resetMs: number;
  /** Milliseconds after which a refused request may come again; 0 when it was allowed. */
  readonly retryMs: number;
}

interface Slice {
  /** Tokens of this process, spendable until `until`. */
  own: number;
  until: number;
  /** Content of the bucket at `at`. */
  left: number;
  at: number;
  asking: Promise<void> | null;
}

const spendWithinMs = 2_000;
const maxSubjects = 10_000;

export class RateLimiter {
  private readonly store: Pick<LimitStore, 'lease'>;
  private readonly clock: () => number;
  private readonly slices = new Map<string, Slice>();

  constructor(store: Pick<LimitStore, 'lease'>, clock: () => number = () => performance.now()) {
    this.store = store;
    this.clock = clock;
  }

  /** Takes one token. Rejects when the store does. */
  async take(subject: string, rule: RateRule): Promise<Standing> {
    const slice = this.sliceFor(subject);
    for (;;) {
      const now = this.clock();
      if (slice.own >= 1 && now < slice.until) {
        slice.own -= 1;
        return standing(slice, rule, now, true);
      }
      // It was empty a moment ago, and nothing can have come back, so the store need not be asked.
      if (slice.asking === null && isEmpty(slice, rule, now)) return standing(slice, rule, now, false);
      slice.asking ??= this.ask(subject, slice, rule).finally(() => (slice.asking = null));
      await slice.asking;
    }
  }

  /** The standing of a subject without a request, as far as this process knows. It is allowed if nothing is known. */
  look(subject: string, rule: RateRule): Standing {
    const now = this.clock();
    const slice = this.slices.get(subject) ?? unasked();
    return standing(slice, rule, now, slice.asking !== null || !isEmpty(slice, rule, now));
  }

  /** How many subjects are remembered. */
  get size(): number {
    return this.slices.size;
  }

  private async ask(subject: string, slice: Slice, rule: RateRule): Promise<void> {
    const returned = slice.own;
    slice.own = 0;
    const { granted, left } = await this.store.lease(subject, rule, sliceOf(rule), returned);
    const now = this.clock();
    Object.assign(slice, { own: granted, until: now + spendWithinMs, left, at: now });
  }

  private sliceFor(subject: string): Slice {
    const known = this.slices.get(subject);
    if (known) {
      // The map keeps the order of use: its first is the one unused for longest.
      this.slices.delete(subject);
      this.slices.set(subject, known);
      return known;
    }
    const slice = unasked();
    this.slices.set(subject, slice);
    if (this.slices.size > maxSubjects) this.slices.delete(this.slices.keys().next().value!);
    return slice;
  }
}

const unasked = (): Slice => ({ own: 0, until: -Infinity, left: Infinity, at: -Infinity, asking: null });

function isEmpty({ own, left, at }: Slice, rule: RateRule, now: number): boolean {
  return own < 1 && Number.isFinite(left) && refilled(left, rule, now - at) < 1;
}

function standing({ own, left, at }: Slice, rule: RateRule, now: number, allowed: boolean): Standing {
  const inBucket = refilled(left, rule, now - at);
  const remaining = Math.min(rule.perMinute, inBucket + own);
  return {
    allowed,
    limit: rule.perMinute,
    remaining: allowed ? Math.floor(remaining) : 0,
    resetMs: waitFor(remaining, rule, rule.perMinute),
    retryMs: allowed ? 0 : Math.max(1, waitFor(inBucket, rule, 1)),
  };
}
