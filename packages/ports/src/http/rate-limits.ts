import type { RateRule } from '@lodge/domain';

/** Limits that several server processes share. */
export interface LimitStore {
  /**
   * Takes up to `wanted` tokens from the subject's bucket, after returning `returned` unused ones. `granted` tokens are the
   * caller's now; `left` remain in the bucket.
   */
  lease(
    subject: string,
    rule: RateRule,
    wanted: number,
    returned: number,
  ): Promise<{ readonly granted: number; readonly left: number }>;
  /**
   * Takes one of `most` places for at most `ttlMs`, so the place of a dead owner becomes free again. Returns null when all
   * are taken.
   */
  enter(subject: string, most: number, ttlMs: number): Promise<string | null>;
  leave(place: string): Promise<void>;
  /** Deletes full buckets and expired places. */
  prune(): Promise<void>;
}
