import type { TelegramTimings } from '../timings.ts';

/** A test waits for nothing longer than some seconds. */
export const quickTimings: TelegramTimings = {
  pollS: 2,
  pollSlackMs: 1_000,
  probeAfterMs: 300,
  probeAgainMs: 200,
  callMs: 3_000,
  fileMs: 10_000,
  stalledMs: 2_000,
  backoff: { firstMs: 50, maxMs: 200, stableMs: 1_000 },
  conflictBackoff: { firstMs: 100, maxMs: 300, stableMs: 1_000 },
};
