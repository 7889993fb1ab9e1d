import type { RateRule } from '@lodge/domain';

/** Limits that several server processes share. */
export interface LimitStore {
  /**
   * Takes up to `wanted` tokens out of the subject's bucket, after putting `returned` unused ones back. `granted` are the
   * caller's now; `left` are still in the bucket.
   */
  lease(
    subject: string,
    rule: RateRule,
    wanted: number,
    returned: number,
  ): Promise<{ readonly granted: number; readonly left: number }>;
  /** One of `most` places, for at most `ttlMs`: a place whose owner died is free again then. Null when all are taken. */
  enter(subject: string, most: number, ttlMs: number): Promise<string | null>;
  leave(place: string): Promise<void>;
  /** Forgets buckets that are full again, and places whose time is over. */
  prune(): Promise<void>;
}
