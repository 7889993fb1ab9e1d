import { usualBackoff } from '../shared/backoff.ts';

export const usualTimings = {
  /** How long Telegram holds a poll open for which it has nothing, in whole seconds. */
  pollS: 50,
  /** A poll that has no answer so long after that is given up. */
  pollSlackMs: 10_000,
  /** An open poll so old is probed: is something waiting? */
  probeAfterMs: 30_000,
  /** If so, asked again after this, and then the poll is given up. */
  probeAgainMs: 15_000,
  /** Any other call. */
  callMs: 30_000,
  /** A file in either direction. */
  fileMs: 600_000,
  /** No byte of a file came for so long. */
  stalledMs: 30_000,
  backoff: usualBackoff,
  /** While somebody else uses the token: seldom, so that the two do not throw each other out in turn. */
  conflictBackoff: { firstMs: 20_000, maxMs: 300_000, stableMs: 300_000 },
};

export type TelegramTimings = Readonly<typeof usualTimings>;
