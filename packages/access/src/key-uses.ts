import type { ApiKeyStore, Log } from '@lodge/engine/ports';

const flushAfterMs = 10_000;
/** Beyond this the key used longest ago is forgotten; it only happens while the store cannot be written. */
const mostPending = 10_000;

/** When keys were last used, written to the store in batches. What a kill -9 loses is at most `flushAfterMs` of last-used times. */
export class KeyUses {
  readonly #store: Pick<ApiKeyStore, 'recordUse'>;
  readonly #log: Log;
  #pending = new Map<string, Date>();
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Pick<ApiKeyStore, 'recordUse'>, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  note(keyId: string, at: Date): void {
    // Deleted first, so that the map stays in order of use.
    this.#pending.delete(keyId);
    this.#pending.set(keyId, at);
    if (this.#pending.size > mostPending) this.#pending.delete(this.#pending.keys().next().value!);
    this.#schedule();
  }

  /** Writes what is pending. Never rejects: what could not be written is tried again with the next batch. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.size === 0) return;
    const batch = this.#pending;
    this.#pending = new Map();
    try {
      await this.#store.recordUse(batch);
    } catch (error) {
      this.#log.warn({ err: error, keys: batch.size }, 'last use of API keys not written; it will be tried again');
      const newer = this.#pending;
      this.#pending = batch;
      for (const [keyId, at] of newer) this.note(keyId, at);
      this.#schedule();
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs).unref();
  }
}
