import { usualBackoff } from '../shared/backoff.ts';
import type { BackoffTimings } from '../shared/backoff.ts';

export interface TelegramTimings {
  /** How long Telegram holds a poll open for which it has nothing, in whole seconds. */
  readonly pollS: number;
  /** A poll that has no answer so long after that is given up. */
  readonly pollSlackMs: number;
  /** An open poll so old is probed: is something waiting? */
  readonly probeAfterMs: number;
  /** If so, asked again after this, and then the poll is given up. */
  readonly probeAgainMs: number;
  /** Any other call. */
  readonly callMs: number;
  /** A file in either direction. */
  readonly fileMs: number;
  /** No byte of a file came for so long. */
  readonly stalledMs: number;
  readonly backoff: BackoffTimings;
  /** While somebody else uses the token: seldom, so that the two do not throw each other out in turn. */
  readonly conflictBackoff: BackoffTimings;
}

export const usualTimings: TelegramTimings = {
  pollS: 50,
  pollSlackMs: 10_000,
  probeAfterMs: 30_000,
  probeAgainMs: 15_000,
  callMs: 30_000,
  fileMs: 600_000,
  stalledMs: 30_000,
  backoff: usualBackoff,
  conflictBackoff: { firstMs: 20_000, maxMs: 300_000, stableMs: 300_000 },
};
