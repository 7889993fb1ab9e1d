import type { EventBounds, Log } from '@lodge/ports';
import type { Database } from '@lodge/store/database';
import { pruneEvents } from '@lodge/store/events';
import { Periodic } from '../periodic.ts';

const pruneEveryMs = 10 * 60_000;

/** Keeps the stored events within their bounds. */
export function createEventKeeper(deps: {
  readonly database: Database;
  readonly bounds: EventBounds;
  readonly log: Log;
}): Periodic {
  const { database, bounds, log } = deps;
  return new Periodic({
    everyMs: pruneEveryMs,
    log,
    failed: 'old events not deleted; it will be repeated',
    round: () => database.repeatable((db) => pruneEvents(db, bounds)),
  });
}
