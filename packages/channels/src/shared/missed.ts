/** Messages that are read in the histories of conversations, because no event told of them. */
import { pause } from './backoff.ts';
import type { Places } from './places.ts';
import { PlatformError } from './platform-error.ts';

const maxTries = 4;
/** Conversations of a glance: the most recent ones, in which somebody most likely writes next. */
const glancedPlaces = 3;

export interface Histories<M> {
  /** Reads the messages of a conversation after the last that was taken, oldest first. Rejects with a `PlatformError`. */
  readonly after: (id: string, last: string) => Promise<readonly M[]>;
  /** Whether a refusal means that this conversation cannot be read any more. */
  readonly isGone: (refusal: PlatformError) => boolean;
  /** Wait before another try, longer with each. */
  readonly retryMs: number;
  readonly signal: AbortSignal;
}

/** As `missedMessages`, of few conversations that were taken before. */
export async function* glancedMessages<M>(histories: Histories<M>, places: Places): AsyncGenerator<readonly M[]> {
  for (const [id, last] of places.all().slice(0, glancedPlaces)) {
    const found = await messagesAfter(histories, id, last);
    if (histories.signal.aborted) return;
    if (Array.isArray(found) && found.length > 0) yield found;
  }
}

/**
 * Messages in recent conversations, and in others, after the last received place, oldest first, one conversation after the
 * other. A conversation that cannot be read any more is forgotten.
 */
export async function* missedMessages<M>(
  histories: Histories<M>,
  places: Places,
  others: readonly (readonly [id: string, last: string])[],
): AsyncGenerator<readonly M[]> {
  for (const [id, last] of [...places.all(), ...others]) {
    const found = await messagesAfter(histories, id, last);
    if (histories.signal.aborted) return;
    if (found === 'gone') places.forget(id);
    else if (found === null) places.couldNotRead(id, last);
    else {
      if (found.length > 0) yield found;
      places.wasRead(id);
    }
  }
}

/** Null: the platform could not be asked. */
async function messagesAfter<M>(
  { after, isGone, retryMs, signal }: Histories<M>,
  id: string,
  last: string,
): Promise<readonly M[] | 'gone' | null> {
  for (let tries = 0; tries < maxTries && !signal.aborted; tries += 1) {
    try {
      return await after(id, last);
    } catch (error) {
      const failure = error instanceof PlatformError ? error : null;
      if (failure?.kind === 'refused') return isGone(failure) ? 'gone' : null;
      await pause(Math.min(failure?.retryAfterMs ?? 0, 60_000) + retryMs * (tries + 1), signal);
    }
  }
  return null;
}
