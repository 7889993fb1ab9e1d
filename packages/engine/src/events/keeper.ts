import type { EventBounds, EventStore, Log } from '@lodge/ports';
import { Periodic } from '../periodic.ts';

const pruneEveryMs = 10 * 60_000;

/** Keeps the stored events within their bounds. */
export function createEventKeeper(deps: {
  readonly events: Pick<EventStore, 'prune'>;
  readonly bounds: EventBounds;
  readonly log: Log;
}): Periodic {
  const { events, bounds, log } = deps;
  return new Periodic({
    everyMs: pruneEveryMs,
    log,
    failed: 'old events not deleted; it will be repeated',
    round: () => events.prune(bounds),
  });
}
