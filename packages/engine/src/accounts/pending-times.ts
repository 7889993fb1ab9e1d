import type { Log } from '@lodge/ports';

const flushAfterMs = 10_000;
/** Beyond this number the oldest id is forgotten; that happens only while the store cannot be written. */
const maxPending = 10_000;

/**
 * When things (keys, sessions) were last used, by id, written to the store in batches. A kill -9 loses at most
 * `flushAfterMs` of them.
 */
export class PendingTimes {
  readonly #write: (times: ReadonlyMap<string, Date>) => Promise<void>;
  readonly #log: Log;
  /** The log's name for these things. */
  readonly #what: string;
  #pending = new Map<string, Date>();
  #timer: NodeJS.Timeout | undefined;

  constructor(what: string, write: (times: ReadonlyMap<string, Date>) => Promise<void>, log: Log) {
    this.#what = what;
    this.#write = write;
    this.#log = log;
  }

  note(id: string, at: Date): void {
    // Deleted first, so that the map stays in order of use.
    this.#pending.delete(id);
    this.#pending.set(id, at);
    if (this.#pending.size > maxPending) this.#pending.delete(this.#pending.keys().next().value!);
    this.#schedule();
  }

  /** Writes what is pending. Never rejects: a batch that could not be written is tried again with the next one. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.size === 0) return;
    const batch = this.#pending;
    this.#pending = new Map();
    try {
      await this.#write(batch);
    } catch (error) {
      this.#log.warn({ err: error, count: batch.size }, `${this.#what} not written; it will be tried again`);
      const newer = this.#pending;
      this.#pending = batch;
      for (const [id, at] of newer) this.note(id, at);
      this.#schedule();
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs).unref();
  }
}
