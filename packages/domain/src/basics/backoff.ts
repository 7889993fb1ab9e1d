/** Waits between tries of what fails again and again. Each is longer than the one before, up to a longest. */
export interface BackoffRule {
  readonly firstMs: number;
  readonly maxMs: number;
  /** How many times as long each wait is as the one before; twice where it is not given. */
  readonly growth?: number;
  /** Share of a wait, 0 to 1, that chance may take away, so that those that failed together do not come back together. */
  readonly jitter?: number;
}

/** Beyond it a wait would be no finite number before it is bounded. */
const maxFailures = 64;

/**
 * Milliseconds to wait after so many failures in a row, 1 or more. `random` gives a number in [0, 1), as `Math.random` does;
 * without it the wait is as long as it may be.
 */
export function backoffMs(
  { firstMs, maxMs, growth = 2, jitter = 0 }: BackoffRule,
  failures: number,
  random: () => number = () => 1,
): number {
  const longestMs = Math.min(maxMs, firstMs * growth ** (Math.min(failures, maxFailures) - 1));
  return longestMs * (1 - jitter + jitter * random());
}
