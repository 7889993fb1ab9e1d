/**
 * Lists that grow, as they grow: events, logs. The reader's position is the id of the last entry that it was given. A cut
 * stream is opened again behind it, so no entry is lost and none comes twice.
 */
import { errorOfEvent, LodgeError } from '../errors.ts';
import type { FollowOptions } from '../options.ts';
import { eventsOf } from './events.ts';
import { backoff, isPassing, pause } from './retry.ts';
import { isError, jsonOf } from './stream.ts';
import type { Transport } from './transport.ts';
import type { Query } from './url.ts';

interface Entry {
  readonly id: string;
}

/** The service sends a comment every 10 s. */
const silenceMs = 45_000;
/** A server that cannot be reached for so long is given up. */
const maxDownMs = 10 * 60_000;
const defaultLimit = 100;

interface Followed {
  readonly path: string;
  readonly query: Query;
  readonly options: FollowOptions;
}

export async function* follow<T extends Entry>(http: Transport, followed: Followed): AsyncGenerator<T, void> {
  const { path, options } = followed;
  const { limit, ...query } = followed.query;
  const position: Position = { last: undefined };
  if (limit !== undefined || query['since'] === undefined) {
    // Only a page tells that there is nothing yet, and so where to begin after a cut before the first entry.
    const newest = { ...query, limit: limit ?? defaultLimit, direction: 'desc' };
    const { data } = await http.json<{ data: T[] }>({ method: 'GET', path, query: newest }, options);
    position.last = data[0]?.id ?? '0';
    yield* data.toReversed();
  }
  let downSince: number | null = null;
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const entry of once<T>(http, { path, query, options }, position)) {
        failures = 0;
        downSince = null;
        if (entry !== null) yield entry;
      }
    } catch (error) {
      if (!isPassing(error)) throw error;
      downSince ??= performance.now();
      if (performance.now() - downSince > maxDownMs) throw error;
    }
    options.onConnection?.(false);
    const retryMs = backoff(failures, 250, 10_000);
    await pause(retryMs, options.signal);
  }
}

interface Position {
  last: string | undefined;
}

/** One connection's entries, and null once it is open. */
async function* once<T extends Entry>(
  http: Transport,
  { path, query, options }: Followed,
  position: Position,
): AsyncGenerator<T | null, void> {
  const call = {
    method: 'GET',
    path,
    query: { ...query, follow: 'true' },
    headers: { accept: 'text/event-stream', 'last-event-id': position.last },
  };
  const timeoutMs = options.timeoutMs ?? silenceMs;
  const { reply, attempt } = await http.open(call, { ...options, timeoutMs, maxRetries: 0 });
  if (!(reply.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
    attempt.end(true);
    throw new LodgeError('The server did not reply with a stream of events.');
  }
  options.onConnection?.(true);
  let isOpen = false;
  for await (const event of eventsOf(reply, attempt)) {
    if (!isOpen) yield null;
    isOpen = true;
    const value = jsonOf(event.data);
    if (event.event === 'error' || isError(value)) throw errorOfEvent(value, reply.headers);
    const id = event.id ?? (value as T).id;
    if (position.last !== undefined && !isLater(id, position.last)) continue;
    position.last = id;
    yield value as T;
  }
}

/** Ids are numbers that rise, as texts. */
const isLater = (id: string, other: string): boolean =>
  id.length === other.length ? id > other : id.length > other.length;
