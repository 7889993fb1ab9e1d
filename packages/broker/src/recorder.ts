import { setTimeout as sleep } from 'node:timers/promises';
import type { CallBook, LlmCall, Log, PriceBook } from '@lodge/engine/ports';
import { Rate } from './slots.ts';

export type UnpricedCall = Omit<LlmCall, 'costUsd' | 'priceVersion'>;

/** Pauses before further attempts at a row: together longer than a restart of the database takes. */
const retryAfterMs = [250, 1000, 4000, 15_000];
/** Refused calls cost a guest nothing, so no more of them than this at once, and one a second, become rows. */
const refusedBurst = 20;

/** Writes the row about each call. */
export class Recorder {
  readonly #book: CallBook;
  readonly #prices: PriceBook;
  readonly #log: Log;
  readonly #refused = new Rate(refusedBurst);
  readonly #closing = new AbortController();

  constructor(book: CallBook, prices: PriceBook, log: Log) {
    this.#book = book;
    this.#prices = prices;
    this.#log = log;
  }

  /** Resolves when the row is durable, or given up and logged. Never rejects. */
  async record(unpriced: UnpricedCall): Promise<void> {
    if (unpriced.outcome === 'refused' && !this.#refused.allows(unpriced.agentId, performance.now())) return;
    const call = { ...unpriced, ...this.#priceOf(unpriced) };
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#book.close(call);
      } catch (error) {
        const pauseMs = retryAfterMs[attempt];
        if (pauseMs === undefined || this.#closing.signal.aborted) {
          // The row's content is in the log, so that what it cost is not lost altogether.
          this.#log.error({ err: error, llm_call: call }, 'LLM call not recorded');
          return;
        }
        this.#log.warn({ err: error, call_id: call.id, retry_in_ms: pauseMs }, 'LLM call not recorded yet');
        await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => {});
      }
    }
  }

  #priceOf(call: UnpricedCall): Pick<LlmCall, 'costUsd' | 'priceVersion'> {
    try {
      const price = this.#prices.price(call.provider, call.model, call);
      if (price) return { costUsd: price.costUsd, priceVersion: price.version };
    } catch (error) {
      this.#log.error({ err: error, provider: call.provider, model: call.model }, 'LLM call not priced');
    }
    return { costUsd: null, priceVersion: null };
  }

  /** From here on a row that fails is tried once more and no longer. */
  close(): void {
    this.#closing.abort();
  }
}
