/**
 * A list as it grows: an agent's log, an account's events. A follower has one position, the id of the last entry that it has
 * returned (or knows not to match). It asks for the entries behind it when it is woken, and at intervals in case a wake was
 * lost. Ids rise in the order in which entries become visible. So no entry is missed or repeated, also across a reconnect
 * with that id.
 */
import { setTimeout as sleep } from 'node:timers/promises';

interface Page {
  /** Entries after this id (`asc`) or before it (`desc`). */
  readonly from?: bigint;
  readonly direction: 'asc' | 'desc';
  readonly limit: number;
}

/** A list that can be followed. */
export interface Growing<Entry extends { readonly id: bigint }> {
  page(query: Page): Promise<readonly Entry[]>;
  /**
   * Id of the newest entry of all, even one that does not match; -1 when there is none. Only for lists where looking past
   * those is costly.
   */
  readonly newestId?: () => Promise<bigint>;
  /** Calls back when there may be more. */
  onGrown(listener: () => void): () => void;
}

export interface Following {
  /** The beginning: after an entry, with so many of the newest, or with the first match. */
  readonly begin: { readonly after: bigint } | { readonly newest: number } | 'first';
  readonly signal: AbortSignal;
  /** Interval of looks for new entries without a wake. */
  readonly pollMs?: number;
}

const pageSize = 200;
const defaultPollMs = 5_000;
/** Shortest interval of looks at a list that grows fast. */
const restMs = 100;

/**
 * Yields batches of entries, oldest first, until `signal` aborts. Rejects before the first batch when the list cannot be
 * read.
 */
export async function follow<Entry extends { readonly id: bigint }>(
  list: Growing<Entry>,
  following: Following,
): Promise<AsyncGenerator<readonly Entry[]>> {
  const { begin } = following;
  const head = (await list.newestId?.()) ?? -1n;
  if (begin === 'first') return batches(list, following, -1n);
  if ('after' in begin) return batches(list, following, begin.after);
  const newest = await list.page({ direction: 'desc', limit: begin.newest });
  return batches(list, following, later(head, newest[0]?.id ?? -1n), newest.toReversed());
}

async function* batches<Entry extends { readonly id: bigint }>(
  list: Growing<Entry>,
  { signal, pollMs = defaultPollMs }: Following,
  after: bigint,
  first: readonly Entry[] = [],
): AsyncGenerator<readonly Entry[]> {
  if (first.length > 0) yield first;
  let position = after;
  const bell = new Bell();
  const unsubscribe = list.onGrown(bell.ring);
  signal.addEventListener('abort', bell.ring);
  try {
    while (!signal.aborted) {
      bell.reset();
      const lookedAt = performance.now();
      // Entries that do not match need not be read again: the next look begins behind them.
      const head = (await list.newestId?.()) ?? -1n;
      const from = position < 0n ? {} : { from: position };
      const page = await list.page({ ...from, direction: 'asc', limit: pageSize });
      if (page.length > 0) yield page;
      position = later(position, page.at(-1)?.id ?? -1n);
      if (page.length === pageSize) continue;
      position = later(position, head);
      await bell.wait(pollMs);
      const restedMs = performance.now() - lookedAt;
      if (!signal.aborted && restedMs < restMs) await sleep(restMs - restedMs, undefined, { ref: false });
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', bell.ring);
  }
}

const later = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** A ring while nobody waits reaches the next caller that does. */
class Bell {
  #rung = Promise.withResolvers<void>();
  readonly ring = (): void => this.#rung.resolve();

  reset(): void {
    this.#rung = Promise.withResolvers();
  }

  async wait(maxMs: number): Promise<void> {
    const timer = setTimeout(this.ring, maxMs);
    await this.#rung.promise;
    clearTimeout(timer);
  }
}
