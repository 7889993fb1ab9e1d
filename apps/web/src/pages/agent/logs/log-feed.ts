/**
 * The lines of one filter, as they come: first the newest ones (or those around a time), then each as it is written. Older
 * lines are read when asked for. A cut connection is opened again, and told meanwhile. Lines that come together are shown
 * together, once a frame.
 */
import type { LogEntry, LogList, Page } from '@lodge/sdk';
import { lodge, read } from '../../../api.ts';
import { isPassing, pause } from '../../../live/again.ts';
import { LogBuffer } from './log-buffer.ts';
import type { LogLevel, LogSource } from './log-words.ts';

export interface LogFilter {
  readonly level?: LogLevel;
  readonly source?: LogSource;
  readonly search?: string;
}

export interface LogState {
  readonly entries: readonly LogEntry[];
  readonly phase: 'loading' | 'ready' | 'failed';
  readonly error: unknown;
  /** `behind`: later lines are there that were not read yet, so nothing is followed. */
  readonly connection: 'connecting' | 'live' | 'cut' | 'behind';
  readonly hasOlder: boolean;
  readonly isLoadingOlder: boolean;
  /** Lines that were dropped at the beginning, because the page holds no more. */
  readonly dropped: number;
  /** Where the time is to which the reader jumped. */
  readonly startIndex: number | null;
}

const firstLines = 500;
const pageLines = 1000;
const linesBefore = 100;
/** The server sends a sign of life every 10 s. */
const silenceMs = 14_000;
const maxPauseMs = 10_000;
const hiddenPauseMs = 500;
const manyLines = 20_000;
const manyPauseMs = 120;
/** Lines that wait for a frame in a page that is not seen. */
const maxWaiting = 5_000;

const initial: LogState = {
  entries: [],
  phase: 'loading',
  error: null,
  connection: 'connecting',
  hasOlder: false,
  isLoadingOlder: false,
  dropped: 0,
  startIndex: null,
};

export class LogFeed {
  readonly #agentId: string;
  readonly #filter: LogFilter;
  readonly #at: string | undefined;
  readonly #buffer = new LogBuffer();
  readonly #listeners = new Set<() => void>();
  #over = new AbortController();
  #state = initial;
  #waiting: LogEntry[] = [];
  #cancelFrame: (() => void) | null = null;
  #older: Page<LogList> | null = null;
  #newer: Page<LogList> | null = null;
  #isReadingNewer = false;
  #shownAt = 0;

  constructor(agentId: string, filter: LogFilter, at?: string) {
    this.#agentId = agentId;
    this.#filter = filter;
    this.#at = at;
  }

  readonly state = (): LogState => this.#state;

  /** Reads while somebody listens. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) void this.#run((this.#over = new AbortController()).signal);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  };

  /** Begins anew after a failure. */
  readonly retry = (): void => {
    this.#stop();
    this.#set({ phase: this.#buffer.last === undefined ? 'loading' : 'ready', error: null, connection: 'connecting' });
    void this.#run((this.#over = new AbortController()).signal);
  };

  readonly loadOlder = async (): Promise<void> => {
    const { first } = this.#buffer;
    if (first === undefined || this.#state.isLoadingOlder || !this.#state.hasOlder || this.#buffer.isFull) return;
    this.#set({ isLoadingOlder: true });
    const { signal } = this.#over;
    try {
      const page = await this.#olderThan(first, signal);
      if (signal.aborted) return;
      this.#older = page;
      const added = this.#buffer.prepend(page?.data.toReversed() ?? []);
      const startIndex = this.#state.startIndex === null ? null : this.#state.startIndex + added;
      this.#set({ isLoadingOlder: false, hasOlder: page?.has_more === true && !this.#buffer.isFull, startIndex });
    } catch {
      // The reader asks again by scrolling.
      if (!signal.aborted) this.#set({ isLoadingOlder: false });
    }
  };

  /** Reads on towards now, after a jump to a time. */
  readonly loadNewer = async (): Promise<void> => {
    if (this.#newer === null || this.#isReadingNewer) return;
    this.#isReadingNewer = true;
    const { signal } = this.#over;
    try {
      const page = await read(this.#newer.next());
      if (signal.aborted) return;
      this.#take(page?.data ?? []);
      this.#newer = page?.has_more === true ? page : null;
      if (this.#newer === null) void this.#follow(signal);
    } catch {
      // As above.
    } finally {
      this.#isReadingNewer = false;
    }
  };

  async #run(signal: AbortSignal): Promise<void> {
    if (this.#buffer.last !== undefined) return this.#newer === null ? this.#follow(signal) : undefined;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await (this.#at === undefined ? this.#readNewest(signal) : this.#readAround(this.#at, signal));
        return this.#newer === null && !signal.aborted ? await this.#follow(signal) : undefined;
      } catch (error) {
        if (signal.aborted) return;
        this.#set({ phase: 'failed', error, connection: 'cut' });
        if (!isPassing(error)) return;
        await pause(failures, maxPauseMs, signal);
      }
    }
  }

  async #readNewest(signal: AbortSignal): Promise<void> {
    const page = await read(
      lodge.agents.logs(this.#agentId, { ...this.#filter, limit: firstLines }, { signal }).then((first) => first),
    );
    if (signal.aborted) return;
    this.#buffer.append(page.data.toReversed());
    this.#older = page;
    this.#set({ phase: 'ready', error: null, hasOlder: page.has_more, entries: this.#buffer.entries });
  }

  async #readAround(at: string, signal: AbortSignal): Promise<void> {
    const { agents } = lodge;
    const [before, later] = await read(
      Promise.all([
        agents.logs(this.#agentId, { ...this.#filter, until: at, limit: linesBefore }, { signal }),
        agents.logs(this.#agentId, { ...this.#filter, since: at, direction: 'asc', limit: firstLines }, { signal }),
      ]),
    );
    if (signal.aborted) return;
    this.#buffer.append([...before.data.toReversed(), ...later.data]);
    this.#older = before;
    this.#newer = later.has_more ? later : null;
    this.#set({
      phase: 'ready',
      error: null,
      hasOlder: before.has_more,
      connection: later.has_more ? 'behind' : 'connecting',
      startIndex: Math.min(before.data.length, Math.max(0, this.#buffer.entries.length - 1)),
    });
  }

  /** Follows from the last line on, until the page is left. */
  async #follow(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        const lines = lodge.agents.followLogs(
          this.#agentId,
          { ...this.#filter, ...this.#position() },
          {
            signal,
            timeoutMs: silenceMs,
            onConnection: (isOpen) => {
              if (isOpen) failures = 0;
              if (!signal.aborted) this.#set({ connection: isOpen ? 'live' : 'cut' });
            },
          },
        );
        for await (const entry of lines) {
          if (signal.aborted) return;
          this.#take([entry]);
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#set({ connection: 'cut' });
        if (!isPassing(error)) return this.#set({ phase: 'failed', error });
        await pause(failures, maxPauseMs, signal);
      }
    }
  }

  /** All from the time of the last line on; the buffer knows which of them it has. */
  #position(): { readonly since: string } | { readonly limit: number } {
    const since = this.#buffer.last?.timestamp ?? this.#at;
    return since === undefined ? { limit: firstLines } : { since };
  }

  async #olderThan(first: LogEntry, signal: AbortSignal): Promise<Page<LogList> | null> {
    if (this.#older !== null) return read(this.#older.next());
    // The beginning was dropped since. Its own time is included, because several lines may share it.
    const until = new Date(Date.parse(first.timestamp) + 1).toISOString();
    return read(
      lodge.agents.logs(this.#agentId, { ...this.#filter, until, limit: pageLines }, { signal }).then((page) => page),
    );
  }

  #take(entries: readonly LogEntry[]): void {
    for (const entry of entries) this.#waiting.push(entry);
    if (this.#waiting.length >= maxWaiting) return this.#show();
    if (this.#cancelFrame !== null) return;
    // Each time the list reckons with all its lines, so a long one is shown new ones less often.
    const restMs = this.#buffer.entries.length > manyLines ? this.#shownAt + manyPauseMs - performance.now() : 0;
    if (document.hidden || restMs > 0) {
      const timer = setTimeout(() => this.#show(), document.hidden ? hiddenPauseMs : restMs);
      this.#cancelFrame = () => clearTimeout(timer);
    } else {
      const frame = requestAnimationFrame(() => this.#show());
      this.#cancelFrame = () => cancelAnimationFrame(frame);
    }
  }

  #show(): void {
    this.#cancelFrame?.();
    this.#cancelFrame = null;
    this.#shownAt = performance.now();
    const entries = this.#waiting;
    this.#waiting = [];
    const dropped = this.#buffer.append(entries);
    if (dropped > 0) this.#older = null;
    this.#set({
      dropped: this.#state.dropped + dropped,
      ...(dropped > 0 && { hasOlder: true, startIndex: null }),
    });
  }

  #stop(): void {
    this.#over.abort();
    if (this.#cancelFrame !== null) this.#show();
  }

  #set(change: Partial<LogState>): void {
    this.#state = { ...this.#state, ...change, entries: this.#buffer.entries };
    for (const listener of this.#listeners) listener();
  }
}
