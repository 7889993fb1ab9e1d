/**
 * One LLM call, from a guest's request to the row about it.
 *
 *     slot → body → target → key → request to the provider → reply passed on → row
 *
 * Whatever ends it (the provider, the guest, a bound, a refusal), the provider's connection is given up, the guest gets
 * an error in its wire's shape or, when bytes have gone out already, a cut connection, and one row is written. The slot
 * is held until the row is durable, so rows that cannot be written hold back new calls.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseProviderModel } from '@lodge/domain';
import { llmKeyContext } from '@lodge/engine/ports';
import type { BrokerAgent, LlmCall, Log, Provider, SecretBox } from '@lodge/engine/ports';
import { badProvider, CallError } from './call-error.ts';
import { Deadline } from './deadline.ts';
import type { BrokerLimits } from './limits.ts';
import type { Recorder, UnpricedCall } from './recorder.ts';
import { redactor } from './redact.ts';
import { Reply } from './reply.ts';
import { readBody } from './request-body.ts';
import { sendError } from './send-error.ts';
import type { Slots } from './slots.ts';
import { hasKey, pickTarget } from './target.ts';
import type { Upstream } from './upstream.ts';
import { noTokens } from './wires/wire.ts';
import type { Wire } from './wires/wire.ts';

export interface CallDeps {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly secrets: SecretBox;
  readonly recorder: Recorder;
  readonly upstream: Upstream;
  readonly slots: Slots;
  readonly limits: BrokerLimits;
  readonly log: Log;
}

export class Call {
  readonly #deps: CallDeps;
  readonly #wire: Wire;
  readonly #agent: BrokerAgent;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #id = randomUUID();
  readonly #startedAt = new Date();
  readonly #began = performance.now();
  readonly #deadline: Deadline;
  #provider: string;
  #model: string;
  #status: number | null = null;
  #reply: Reply | null = null;
  #redact = redactor(null);

  constructor(deps: CallDeps, wire: Wire, agent: BrokerAgent, req: IncomingMessage, res: ServerResponse) {
    this.#deps = deps;
    this.#wire = wire;
    this.#agent = agent;
    this.#req = req;
    this.#res = res;
    this.#deadline = new Deadline(deps.limits.totalMs);
    // Until more is known, the call is one to the agent's own model.
    const own = parseProviderModel(agent.model);
    this.#provider = own?.provider ?? 'unknown';
    this.#model = own?.name ?? agent.model;
    const closed = (): void => {
      if (!res.writableFinished) this.#deadline.giveUp('guest left');
    };
    if (res.destroyed) closed();
    else res.on('close', closed);
  }

  /** Gives the call up because the broker ends. */
  shutDown(): void {
    this.#deadline.giveUp('shutdown');
  }

  /** Resolves when the call is over and recorded. Never rejects. */
  async run(): Promise<void> {
    const free = this.#deps.slots.take(this.#agent.agentId);
    let outcome: LlmCall['outcome'];
    try {
      if (!free) throw tooManyCalls();
      outcome = await this.#serve();
    } catch (error) {
      outcome = this.#fail(error);
    }
    this.#deadline.done();
    await this.#deps.recorder.record(this.#row(outcome));
    free?.();
  }

  async #serve(): Promise<'ok' | 'provider_error'> {
    const { limits, providers, upstream } = this.#deps;
    const body = await readBody(this.#req, limits.bodyBytes);
    const target = pickTarget(this.#agent, body.model, this.#wire.api, providers);
    this.#provider = target.provider.id;
    this.#model = target.model;
    const prepared = this.#wire.prepare(body, target.provider, target.model);
    const key = this.#openKey(target.provider.id);
    this.#redact = redactor(key);
    this.#deadline.expect('first byte', limits.firstByteMs);
    this.#deadline.signal.throwIfAborted();
    const response = await upstream.send({
      provider: target.provider,
      baseUrl: target.provider.endpoints[this.#wire.api]!.baseUrl,
      path: this.#wire.providerPath,
      headers: this.#headers(key, body.stream === true),
      body: JSON.stringify(prepared.body),
      signal: this.#deadline.signal,
    });
    this.#status = response.statusCode;
    // A body that is given up half-way reports that as an error of its own.
    response.body.on('error', () => {});
    this.#reply = new Reply(response, this.#res, {
      wire: this.#wire,
      providerId: target.provider.id,
      hideUsage: prepared.hideUsage,
      redact: this.#redact,
      deadline: this.#deadline,
      limits,
    });
    try {
      await this.#reply.pass();
    } finally {
      response.body.destroy();
    }
    return this.#reply.failed ? 'provider_error' : 'ok';
  }

  #openKey(providerId: string): string | null {
    if (!hasKey(this.#agent, providerId)) return null;
    let key: string;
    try {
      const sealed = this.#agent.sealedKeys[providerId]!;
      key = this.#deps.secrets.open(sealed, llmKeyContext(this.#agent.agentId, providerId)).trim();
    } catch (error) {
      const details = { status: 500, kind: 'server', code: 'key_unreadable', outcome: 'refused' } as const;
      const message = `The API key for provider ${providerId} cannot be read. Set it again on this agent.`;
      throw new CallError(message, details, { cause: error });
    }
    if (/^[\x21-\x7e]+$/.test(key)) return key;
    const details = {
      status: 401,
      kind: 'authentication',
      code: 'malformed_provider_key',
      outcome: 'refused',
    } as const;
    throw new CallError(`The API key for provider ${providerId} has characters that no API key has.`, details);
  }

  /** What goes out is written anew: of the guest's own headers only what the wire names. */
  #headers(key: string | null, stream: boolean): Record<string, string> {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'lodge',
      ...this.#wire.defaultHeaders,
    };
    for (const name of this.#wire.requestHeaders) {
      const value = this.#req.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    return { ...headers, ...(key === null ? {} : this.#wire.credentials(key)) };
  }

  #fail(error: unknown): LlmCall['outcome'] {
    const gaveUp = this.#deadline.gaveUp;
    const left = this.#res.destroyed || (this.#req.destroyed && !this.#req.complete);
    if (left || gaveUp === 'guest left' || gaveUp === 'guest stalled' || gaveUp === 'shutdown') {
      this.#res.destroy();
      return 'cancelled';
    }
    const reason = error instanceof CallError ? error : this.#providerFailure(error);
    if (reason.outcome !== 'refused' || reason.status >= 500) this.#logFailure(reason);
    if (this.#res.headersSent) this.#res.destroy();
    else sendError(this.#req, this.#res, this.#wire, reason);
    return reason.outcome;
  }

  #providerFailure(error: unknown): CallError {
    const provider = `Provider ${this.#provider}`;
    const outcome = this.#status === null ? 'unreachable' : 'provider_error';
    if (this.#deadline.gaveUp !== null) {
      return badProvider(`${provider} did not answer in time.`, outcome, { cause: error, timeout: true });
    }
    const what = outcome === 'unreachable' ? 'could not be reached' : 'broke off its answer';
    return badProvider(`${provider} ${what}.`, outcome, { cause: error });
  }

  #logFailure(reason: CallError): void {
    const { cause } = reason;
    const causeText = cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined;
    this.#deps.log.warn(
      {
        call_id: this.#id,
        agent_id: this.#agent.agentId,
        provider: this.#provider,
        provider_status: this.#status,
        reason: reason.message,
        gave_up: this.#deadline.gaveUp ?? undefined,
        cause: causeText === undefined ? undefined : this.#redact(causeText),
      },
      'LLM call failed',
    );
  }

  #row(outcome: LlmCall['outcome']): UnpricedCall {
    return {
      id: this.#id,
      agentId: this.#agent.agentId,
      accountId: this.#agent.accountId,
      provider: this.#provider,
      model: this.#model,
      api: this.#wire.api,
      startedAt: this.#startedAt,
      durationMs: Math.round(performance.now() - this.#began),
      timeToFirstByteMs: null,
      status: this.#status,
      outcome,
      estimated: false,
      ...(this.#reply?.tokens ?? noTokens),
    };
  }
}

function tooManyCalls(): CallError {
  return new CallError('Too many model calls at once. Try again in a moment.', {
    status: 429,
    kind: 'rate_limit',
    code: 'too_many_calls',
    outcome: 'refused',
    retryAfterSeconds: 1,
  });
}
