import { setTimeout as sleep } from 'node:timers/promises';
import type { LlmCall, LlmCallSink, Log } from '@lodge/engine/ports';
import { Rate } from './slots.ts';

/** Decimal USD of a finished call, or null when its model has no known price. */
export type Price = (call: Omit<LlmCall, 'costUsd'>) => string | null;

/** Pauses before further attempts at a row: together longer than a restart of the database takes. */
const retryAfterMs = [250, 1000, 4000, 15_000];
/** Refused calls cost a guest nothing, so no more of them than this at once, and one a second, become rows. */
const refusedBurst = 20;

/** Writes the row about each call. */
export class Recorder {
  readonly #sink: LlmCallSink;
  readonly #price: Price;
  readonly #log: Log;
  readonly #refused = new Rate(refusedBurst);
  readonly #closing = new AbortController();

  constructor(sink: LlmCallSink, price: Price, log: Log) {
    this.#sink = sink;
    this.#price = price;
    this.#log = log;
  }

  /** Resolves when the row is durable, or given up and logged. Never rejects. */
  async record(priced: Omit<LlmCall, 'costUsd'>): Promise<void> {
    if (priced.outcome === 'refused' && !this.#refused.allows(priced.agentId, performance.now())) return;
    const call = { ...priced, costUsd: this.#priceOf(priced) };
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#sink.record(call);
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

  #priceOf(call: Omit<LlmCall, 'costUsd'>): string | null {
    try {
      return this.#price(call);
    } catch (error) {
      this.#log.error({ err: error, provider: call.provider, model: call.model }, 'LLM call not priced');
      return null;
    }
  }

  /** From here on a row that fails is tried once more and no longer. */
  close(): void {
    this.#closing.abort();
  }
}
