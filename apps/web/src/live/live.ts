/**
 * Follows what happens in the account. One stream of events serves all pages of a tab while it is seen: browsers keep
 * few connections to one server, and tabs that nobody looks at must not use them up.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { LodgeEvent } from '@lodge/sdk';
import { useSyncExternalStore } from 'react';
import { hasCode, lodge } from '../api.ts';
import { staleBy } from './topics.ts';

/** `idle`: nobody is signed in, or the tab is not seen. */
export type Liveness = 'idle' | 'live' | 'stale';

/** The service sends something every 10 s. */
const silenceMs = 12_000;
/** A connection that was cut and is back at once is not worth a word. */
const patienceMs = 2_000;
/** Events that come together make one request for what they change. */
const gatherMs = 150;

let liveness: Liveness = 'idle';
const watchers = new Set<() => void>();
const listeners = new Set<(event: LodgeEvent) => void>();

function become(next: Liveness): void {
  if (next === liveness) return;
  liveness = next;
  for (const watcher of watchers) watcher();
}

export function useLive(): Liveness {
  return useSyncExternalStore(subscribe, () => liveness);
}

const subscribe = (watcher: () => void): (() => void) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

/** Calls with each event; returns how to stop that. */
export function onEvent(listener: (event: LodgeEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows while the tab is seen. Returns how to end that. */
export function goLive(queryClient: QueryClient): () => void {
  let stream: AbortController | undefined;
  let wasHidden = false;
  const look = (): void => {
    if (document.visibilityState === 'visible') {
      stream ??= open(queryClient, wasHidden);
      wasHidden = false;
    } else {
      stream?.abort();
      stream = undefined;
      wasHidden = true;
      become('idle');
    }
  };
  look();
  document.addEventListener('visibilitychange', look);
  return () => {
    document.removeEventListener('visibilitychange', look);
    stream?.abort();
    become('idle');
  };
}

function open(queryClient: QueryClient, wasHidden: boolean): AbortController {
  const stop = new AbortController();
  const gathered = new Gathered(queryClient);
  stop.signal.addEventListener('abort', () => gathered.drop());
  const begunAt = Date.now();
  const opened = wasHidden ? () => readAgain(queryClient, begunAt) : () => undefined;
  void follow(stop.signal, { gathered, queryClient, opened });
  return stop;
}

/** Reads again what was read before a moment, whatever its age. Some queries only the person asks for again. */
function readAgain(queryClient: QueryClient, before: number): void {
  void queryClient.invalidateQueries({
    predicate: ({ state, observers }) =>
      state.dataUpdatedAt < before &&
      (observers.length === 0 || observers.some(({ options }) => options.refetchOnWindowFocus !== false)),
  });
}

interface Following {
  readonly gathered: Gathered;
  readonly queryClient: QueryClient;
  /** Called when the stream is open for the first time. */
  readonly opened: () => void;
}

async function follow(signal: AbortSignal, { gathered, queryClient, opened }: Following): Promise<void> {
  let doubt: ReturnType<typeof setTimeout> | undefined;
  let wasOpen = false;
  const onConnection = (isOpen: boolean): void => {
    if (signal.aborted) return;
    clearTimeout(doubt);
    if (!isOpen) {
      doubt = setTimeout(() => become('stale'), patienceMs);
      return;
    }
    // The pages may show something from before the stream began, or from before it was cut.
    if (wasOpen || liveness === 'stale') void queryClient.invalidateQueries();
    else opened();
    wasOpen = true;
    become('live');
  };
  signal.addEventListener('abort', () => clearTimeout(doubt));
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const events = lodge.events.follow({ limit: 1 }, { signal, timeoutMs: silenceMs, onConnection });
      // The first is the newest of before. It counts like the others: the pages may have been read before it.
      for await (const event of events) {
        failures = 0;
        gathered.add(event);
        for (const listener of listeners) listener(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isEnded(error)) {
        // The page's own request finds the session gone, and leads to the sign-in page.
        void queryClient.invalidateQueries({ queryKey: ['session'] });
        return become('stale');
      }
      onConnection(false);
      await new Promise((resolve) => setTimeout(resolve, Math.min(10_000, 500 * 2 ** failures)));
    }
  }
}

const isEnded = (error: unknown): boolean =>
  hasCode(error, 'not_signed_in') || hasCode(error, 'missing_api_key') || hasCode(error, 'session_ended');

class Gathered {
  readonly #queryClient: QueryClient;
  readonly #keys = new Map<string, ReturnType<typeof staleBy>[number]>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(queryClient: QueryClient) {
    this.#queryClient = queryClient;
  }

  add(event: LodgeEvent): void {
    for (const stale of staleBy(event)) this.#keys.set(JSON.stringify(stale), stale);
    this.#timer ??= setTimeout(() => this.#tell(), gatherMs);
  }

  drop(): void {
    clearTimeout(this.#timer);
    this.#keys.clear();
  }

  #tell(): void {
    this.#timer = undefined;
    const all = [...this.#keys.values()];
    this.#keys.clear();
    for (const stale of all) void this.#queryClient.invalidateQueries(stale);
  }
}
