/** Whether spend limits admit a model call, and the words of a refusal. */
import { limitsExceededBy, limitWords, reachedLimits, reachedWords } from './spend.ts';
import type { SpendStanding } from './spend.ts';

export interface SpendRefusal {
  readonly code: 'spend_limit_exceeded';
  readonly message: string;
  /** Seconds after which it may be made. */
  readonly retryAfterSeconds: number;
  /** `turn` ends the agent's turns, `sleep` puts it to sleep too. Absent where trying again soon may help. */
  readonly ends?: 'turn' | 'sleep';
}

/** Wait for calls in progress, which end soon and mostly cost less than estimated. */
const crowdedRetrySeconds = 5;

const unpriced: SpendRefusal = {
  code: 'spend_limit_exceeded',
  message: 'The model has no known price, and a spend limit holds.',
  retryAfterSeconds: 60,
};

/**
 * Decides about a call that is to be made now under these limits. `costUsd` is its estimate in decimal USD, null without a
 * known price. Returns null when it may be made.
 */
export function refusalOf(standings: readonly SpendStanding[], costUsd: string | null, at: Date): SpendRefusal | null {
  const refusal = reachedRefusal(standings, at);
  if (refusal !== null) return refusal;
  // The broker refuses it earlier. Only the standings know a limit that was set since, or that applies because an agent asked
  // another.
  if (costUsd === null) return unpriced;
  const [crowded] = limitsExceededBy(standings, costUsd);
  if (crowded === undefined) return null;
  return {
    code: 'spend_limit_exceeded',
    message: `${limitWords(crowded)} may be used up by the model calls under way. Try again when they have ended.`,
    retryAfterSeconds: crowdedRetrySeconds,
  };
}

/** Returns the refusal of every call while a limit has nothing left; null while each has. */
export function reachedRefusal(standings: readonly SpendStanding[], at: Date): SpendRefusal | null {
  const reached = reachedLimits(standings);
  if (reached.length === 0) return null;
  const { message, until } = reachedWords(reached, at);
  return {
    code: 'spend_limit_exceeded',
    message,
    retryAfterSeconds: Math.max(1, Math.ceil((until.getTime() - at.getTime()) / 1000)),
    ends: reached.some(({ action }) => action === 'pause') ? 'sleep' : 'turn',
  };
}
