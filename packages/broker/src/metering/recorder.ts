import { setTimeout as sleep } from 'node:timers/promises';
import type { CallLedger, LlmCall, Log, OpenCall, PriceBook, SealedContent, TokenUsage } from '@lodge/ports';
import { CallError } from '../call/call-error.ts';
import { Rate } from '../call/call-slots.ts';
import { noTokens } from '../wires/wire.ts';

export type UnpricedCall = Omit<LlmCall, 'costUsd' | 'priceVersion'>;

/** What a call is expected to take at most. */
export type Expected = Pick<OpenCall['estimate'], 'inputTokens' | 'outputTokens'>;

/** Pauses before further attempts to open a call: a guest waits. */
const openAgainAfterMs = [200, 800, 2000];
/** Pauses before further attempts at a row: together longer than a restart of the database takes. */
const retryAfterMs = [250, 1000, 4000, 15_000];
/** Refused calls cost a guest nothing, so no more of them than this at once, and one a second, become rows. */
const refusedBurst = 20;

/** Writes each call into the ledger, before it goes out and once it is over. */
export class Recorder {
  readonly #ledger: CallLedger;
  readonly #prices: PriceBook;
  readonly #log: Log;
  readonly #refused = new Rate(refusedBurst, 1);
  readonly #closing = new AbortController();

  constructor(ledger: CallLedger, prices: PriceBook, log: Log) {
    this.#ledger = ledger;
    this.#prices = prices;
    this.#log = log;
  }

  /** Resolves when it is durable that the call is under way. Rejects with a `CallError` when the call must not be made. */
  async open(call: Omit<OpenCall, 'estimate'>, expected: Expected): Promise<void> {
    const { costUsd } = this.#priceOf(call.provider, call.model, { ...noTokens, ...expected });
    const refusal = await this.#opened({ ...call, estimate: { ...expected, costUsd } });
    if (!refusal) return;
    throw new CallError(refusal.message, {
      status: 429,
      kind: 'rate_limit',
      code: refusal.code,
      outcome: 'refused',
      retryAfterSeconds: refusal.retryAfterSeconds,
      ...(refusal.ends !== undefined && { final: true }),
    });
  }

  async #opened(call: OpenCall): ReturnType<CallLedger['open']> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#ledger.open(call);
      } catch (error) {
        const pauseMs = openAgainAfterMs[attempt];
        if (pauseMs === undefined || this.#closing.signal.aborted) {
          throw new CallError('Model calls are not available right now.', unavailable, { cause: error });
        }
        await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => {});
      }
    }
  }

  /** Resolves when the row is durable, or given up and logged. Never rejects. */
  async record(unpriced: UnpricedCall, content: SealedContent | null = null): Promise<void> {
    if (unpriced.outcome === 'refused' && !this.#refused.allows(unpriced.agentId, performance.now())) return;
    const call = { ...unpriced, ...this.#priceOf(unpriced.provider, unpriced.model, unpriced) };
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#ledger.close(call, content);
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

  #priceOf(provider: string, model: string, usage: TokenUsage): Pick<LlmCall, 'costUsd' | 'priceVersion'> {
    const unpriced = { costUsd: null, priceVersion: null };
    if (usage.inputTokens === null && usage.outputTokens === null) return unpriced;
    try {
      const price = this.#prices.price(provider, model, usage);
      return price ? { costUsd: price.costUsd, priceVersion: price.version } : unpriced;
    } catch (error) {
      this.#log.error({ err: error, provider, model }, 'LLM call not priced');
      return unpriced;
    }
  }

  /** From here on a row that fails is tried once more and no longer. */
  close(): void {
    this.#closing.abort();
  }
}

const unavailable = {
  status: 503,
  kind: 'server',
  code: 'unavailable',
  outcome: 'refused',
  retryAfterSeconds: 2,
} as const;
