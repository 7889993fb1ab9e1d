/**
 * An agent's log as it grows. A follower holds one position, the id of the last entry it has given (or knows not to match),
 * and asks for what lies behind it: when it is woken, and every while in case a wake was lost. Ids rise in the order in which
 * entries can be seen, so nothing is missed and nothing comes twice, across a reconnect with that id too.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agents } from '@lodge/engine';
import type { LogEntry, LogQuery } from '@lodge/engine/ports';

export type LogFilter = Omit<LogQuery, 'from' | 'direction' | 'limit'>;

export interface FollowRequest {
  readonly agents: Pick<Agents, 'logs' | 'onLog'>;
  readonly accountId: string;
  readonly filter: LogFilter;
  /**
   * Where to begin: behind an entry, with so many of the newest, or with the first that matches.
   */
  readonly begin: { readonly after: bigint } | { readonly newest: number } | 'first';
  readonly signal: AbortSignal;
  /** Looks for new entries this often without being woken. */
  readonly pollMs?: number;
}

const pageSize = 200;
const defaultPollMs = 5_000;
/** A log that is being flooded is asked this often at most. */
const restMs = 100;

/** Batches of entries, oldest first, until `signal` aborts. Rejects before it gives any when the agent cannot be read. */
export async function followLog(request: FollowRequest): Promise<AsyncGenerator<readonly LogEntry[]>> {
  const { agents, accountId, filter, begin } = request;
  const head = await newestId(request);
  if (begin === 'first') return batches(request, -1n);
  if ('after' in begin) return batches(request, begin.after);
  const newest = await agents.logs(accountId, { ...filter, direction: 'desc', limit: begin.newest });
  return batches(request, later(head, newest[0]?.id ?? -1n), newest.toReversed());
}

async function* batches(
  request: FollowRequest,
  after: bigint,
  first: readonly LogEntry[] = [],
): AsyncGenerator<readonly LogEntry[]> {
  const { agents, accountId, filter, signal, pollMs = defaultPollMs } = request;
  if (first.length > 0) yield first;
  let position = after;
  const bell = new Bell();
  const unsubscribe = agents.onLog(filter.agentId, () => bell.ring());
  signal.addEventListener('abort', bell.ring);
  try {
    while (!signal.aborted) {
      bell.reset();
      // What does not match need not be looked at again: the next look begins behind it.
      const head = isNarrow(filter) ? await newestId(request) : -1n;
      const from = position < 0n ? {} : { from: position };
      const page = await agents.logs(accountId, { ...filter, ...from, direction: 'asc', limit: pageSize });
      if (page.length > 0) yield page;
      position = later(position, page.at(-1)?.id ?? -1n);
      if (page.length === pageSize) continue;
      position = later(position, head);
      await bell.wait(pollMs);
      if (!signal.aborted) await sleep(restMs, undefined, { ref: false });
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', bell.ring);
  }
}

/** Id of the newest entry of all; -1 when there is none. */
async function newestId({ agents, accountId, filter }: FollowRequest): Promise<bigint> {
  const [newest] = await agents.logs(accountId, { agentId: filter.agentId, direction: 'desc', limit: 1 });
  return newest?.id ?? -1n;
}

const isNarrow = (filter: LogFilter): boolean => Object.keys(filter).length > 1;
const later = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** Rung while nobody waits, it is heard by the next who does. */
class Bell {
  #rung = Promise.withResolvers<void>();
  readonly ring = (): void => this.#rung.resolve();

  reset(): void {
    this.#rung = Promise.withResolvers();
  }

  async wait(mostMs: number): Promise<void> {
    const timer = setTimeout(this.ring, mostMs);
    await this.#rung.promise;
    clearTimeout(timer);
  }
}
