/**
 * A list as it grows: an agent's log, an account's events. A follower holds one position, the id of the last entry it has
 * given (or knows not to match), and asks for what lies behind it: when it is woken, and every while in case a wake was lost.
 * Ids rise in the order in which entries can be seen, so nothing is missed and nothing comes twice, across a reconnect with
 * that id too.
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
  /** Id of the newest entry of all, one that does not match too; -1 when there is none. Only where looking past those costs. */
  readonly newestId?: () => Promise<bigint>;
  /** Calls back when there may be more. */
  onGrown(listener: () => void): () => void;
}

export interface Following {
  /** Where to begin: behind an entry, with so many of the newest, or with the first that matches. */
  readonly begin: { readonly after: bigint } | { readonly newest: number } | 'first';
  readonly signal: AbortSignal;
  /** Looks for new entries this often without being woken. */
  readonly pollMs?: number;
}

const pageSize = 200;
const defaultPollMs = 5_000;
/** A list that is being flooded is asked this often at most. */
const restMs = 100;

/** Batches of entries, oldest first, until `signal` aborts. Rejects before it gives any when the list cannot be read. */
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

/** Rung while nobody waits, it is heard by the next who does. */
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
