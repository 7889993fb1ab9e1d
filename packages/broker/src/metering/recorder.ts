import { setTimeout as sleep } from 'node:timers/promises';
import { TokenBuckets } from '@lodge/domain';
import type { CallLedger, LlmCall, Log, OpenCall, PriceBook, SealedContent, TokenUsage } from '@lodge/ports';
import { CallError } from '../call/call-error.ts';
import type { DearestPrices } from '../prices/price-book.ts';
import { noTokens } from '../wires/wire.ts';
import { ModelNames } from './model-names.ts';

/** The treatment of a call to a model without a known price, if a spend limit holds. */
export type UnpricedModels = 'refuse' | 'dearest';

export type UnpricedCall = Omit<LlmCall, 'costUsd' | 'priceVersion'>;

/** The most that a call is expected to use. */
export type Expected = Pick<OpenCall['estimate'], 'inputTokens' | 'outputTokens'>;

/** The facts of a call beside its row. */
export interface EndedCall {
  /** A spend limit holds for it. */
  readonly limited: boolean;
  /** Whether the ledger has an open row for it. */
  readonly isOpen: boolean;
  readonly content: SealedContent | null;
}

/** Pauses before further attempts to open a call: a guest waits. */
const openAgainAfterMs = [200, 800, 2000];
/** Pauses before further attempts at a row: together longer than a restart of the database takes. */
const retryAfterMs = [250, 1000, 4000, 15_000];
/** Calls that are refused or given up before they go out cost a guest nothing: so many at once, and one a minute, become rows. */
const unopenedRate = { perSecond: 1 / 60, burst: 20 };

/** Writes each call into the ledger, before it goes out and once it is over. */
export class Recorder {
  readonly #ledger: CallLedger;
  readonly #prices: PriceBook & Partial<DearestPrices>;
  readonly #unpriced: UnpricedModels;
  readonly #log: Log;
  readonly #unopened = new TokenBuckets(unopenedRate);
  readonly #names = new ModelNames();
  readonly #closing = new AbortController();

  constructor(ledger: CallLedger, prices: PriceBook & Partial<DearestPrices>, unpriced: UnpricedModels, log: Log) {
    this.#ledger = ledger;
    this.#prices = prices;
    this.#unpriced = unpriced;
    this.#log = log;
  }

  /**
   * Resolves when the call's open row is durable. Rejects with a `CallError` when the call must not be made: also where a
   * spend limit holds (`limited`) and nobody knows what the model costs.
   */
  async open(call: Omit<OpenCall, 'estimate'>, expected: Expected, limited: boolean): Promise<void> {
    const { costUsd } = this.#priceOf(call.provider, call.model, { ...noTokens, ...expected }, limited);
    if (limited && costUsd === null) throw unpricedModel(`${call.provider}/${call.model}`);
    const refusal = await this.#opened({ ...call, model: this.#nameOf(call), estimate: { ...expected, costUsd } });
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

  /** Whether another agent that may pay for the agent's next call is under a spend limit. */
  payerIsLimited(agentId: string): boolean {
    return this.#ledger.payerIsLimited?.(agentId) ?? false;
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
  async record(unpriced: UnpricedCall, { limited, isOpen, content }: EndedCall): Promise<void> {
    if (!isOpen && !this.#unopened.allows(unpriced.agentId, performance.now())) return;
    const { isDearest, ...price } = this.#priceOf(unpriced.provider, unpriced.model, unpriced, limited);
    const model = this.#nameOf(unpriced);
    const call = { ...unpriced, ...price, model, estimated: unpriced.estimated || isDearest };
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

  #nameOf({ agentId, provider, model }: Pick<LlmCall, 'agentId' | 'provider' | 'model'>): string {
    return this.#names.nameOf(agentId, provider, model, performance.now());
  }

  #priceOf(provider: string, model: string, usage: TokenUsage, limited: boolean): Price {
    const unpriced = { costUsd: null, priceVersion: null, isDearest: false };
    if (usage.inputTokens === null && usage.outputTokens === null) return unpriced;
    try {
      const known = this.#prices.price(provider, model, usage);
      if (known) return { costUsd: known.costUsd, priceVersion: known.version, isDearest: false };
      const dearest = limited && this.#unpriced === 'dearest' ? this.#prices.dearest?.(provider, usage) : null;
      return dearest ? { costUsd: dearest.costUsd, priceVersion: dearest.version, isDearest: true } : unpriced;
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

interface Price extends Pick<LlmCall, 'costUsd' | 'priceVersion'> {
  /** The model has no known price; this is that of the dearest. */
  readonly isDearest: boolean;
}

function unpricedModel(name: string): CallError {
  const message =
    `The model ${name} has no known price, and a spend limit holds for this agent. ` +
    'The operator can set its price, or the owner lift the limit.';
  return new CallError(message, {
    status: 403,
    kind: 'permission',
    code: 'unpriced_model',
    outcome: 'refused',
    final: true,
  });
}
