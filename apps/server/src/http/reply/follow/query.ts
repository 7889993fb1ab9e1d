/** Queries on a growing list (an agent's log, an account's events), as a page or as a stream. */
import { Refusal } from '@lodge/domain';
import type { Following } from './follow.ts';
import { parseEntryId } from './position.ts';
import type { Direction, Position } from './position.ts';

interface GrowingQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly direction?: Direction;
  readonly since?: string;
  readonly until?: string;
}

/** The direction of a page; refuses one that differs from its cursor's. */
export function directionOf(query: GrowingQuery, position: Position | null): Direction {
  const direction = query.direction ?? position?.direction ?? 'desc';
  if (position && position.direction !== direction) {
    throw new Refusal('invalid_request', `cursor goes with direction=${position.direction}.`);
  }
  return direction;
}

/** The beginning of a stream. `entry` is what the list is made of, for the refusal. */
export function beginOf(
  query: GrowingQuery,
  lastEventId: string | undefined,
  { entry, limit }: { readonly entry: string; readonly limit: number },
): Following['begin'] {
  for (const name of ['cursor', 'until'] as const) {
    if (query[name] !== undefined) throw new Refusal('invalid_request', `${name} does not go with follow.`);
  }
  if (query.direction === 'desc') throw new Refusal('invalid_request', 'direction can only be asc with follow.');
  if (lastEventId !== undefined) {
    const after = parseEntryId(lastEventId);
    if (after === null) throw new Refusal('invalid_request', `last-event-id is not the id of an ${entry}.`);
    return { after };
  }
  if (query.since !== undefined && query.limit === undefined) return 'first';
  return { newest: query.limit ?? limit };
}
