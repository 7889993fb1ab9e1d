/**
 * One LLM call, from a guest's request to the row about it.
 *
 *     body → slot → target → key → opened in the ledger → request to the provider → reply passed on … closed in the ledger → its end
 *
 * Whatever ends it (the provider, the guest, a bound, a refusal), the provider's connection is given up, one row is written,
 * and then the guest gets the end of its answer, an error in its wire's shape or, when bytes have gone out already, a cut
 * connection. A kill -9 leaves an open row. A guest that is slow to ask takes no slot. The slot is held until the row is
 * durable, so rows that cannot be written hold back new calls.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeldShare, Shares, TokenBuckets } from '@lodge/domain';
import type { BrokerAgent, LlmCall, Log, SecretBox } from '@lodge/ports';
import { badProvider, CallError, invalidRequest, tooMany } from './call-error.ts';
import { Deadline } from './deadline.ts';
import type { JsonBody } from '../json/body.ts';
import type { BrokerLimits } from './call-limits.ts';
import { estimateInput, TokenMeter } from '../metering/token-meter.ts';
import { keyHeader, openKey } from '../providers/provider-key.ts';
import type { AnswerReader } from '../metering/answer-reader.ts';
import type { Recorder, UnpricedCall } from '../metering/recorder.ts';
import { Recording } from '../metering/recording.ts';
import { redactor } from '../metering/redact.ts';
import { Reply } from './reply.ts';
import { readBody } from './request-body.ts';
import type { BodyDeps } from './request-body.ts';
import { sendAgain } from './send-again.ts';
import { sendError } from './send-error.ts';
import { ownModel, pickTarget } from '../providers/target.ts';
import type { Catalogue, Target } from '../providers/target.ts';
import { isConnectFailure } from '@lodge/egress';
import type { Outbound } from '@lodge/egress';
import { billedFields, expectedOutput, refuseUnpriced } from '../wires/billing.ts';
import { modelOf } from '../wires/index.ts';
import { noTokens } from '../wires/wire.ts';
import type { Asked, Wire } from '../wires/wire.ts';

export interface CallDeps extends BodyDeps {
  readonly catalogue: Catalogue;
  readonly secrets: SecretBox;
  readonly recorder: Recorder;
  readonly upstream: Outbound;
  /** Reads large answers beside the event loop. */
  readonly reader: AnswerReader;
  /** Calls whose request was read. */
  readonly slots: Shares;
  readonly rate: TokenBuckets;
  readonly limits: BrokerLimits;
  /** Whether the host's disk has room for what is said in calls. */
  readonly hasRoom: () => boolean;
  readonly log: Log;
}

/** The guest's request and its agent. */
export interface CallRequest {
  readonly wire: Wire;
  readonly asked: Asked;
  readonly agent: BrokerAgent;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export class Call {
  readonly #deps: CallDeps;
  readonly #request: CallRequest;
  readonly #id = randomUUID();
  readonly #startedAt = new Date();
  readonly #began = performance.now();
  readonly #deadline: Deadline;
  readonly #meter: TokenMeter;
  readonly #recording: Recording | null;
  #provider: string;
  #model: string;
  #inputEstimate = 0;
  #outputEstimate = 0;
  /** A spend limit holds for the agent, or for who pays for the call. */
  #limited: boolean;
  /** The request, or part of it, may have reached the provider. */
  #sent = false;
  /** Whether the ledger has an open row for it. */
  #isOpen = false;
  #status: number | null = null;
  #firstByteMs: number | null = null;
  #settled: Promise<void> | null = null;
  #secrets: readonly string[] = [];
  #redact = redactor([]);

  constructor(deps: CallDeps, request: CallRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#limited = request.agent.spendLimited;
    this.#deadline = new Deadline(deps.limits.totalMs);
    this.#meter = new TokenMeter(request.wire);
    this.#recording = request.agent.keepsContents && deps.hasRoom() ? new Recording() : null;
    // Until more is known, the call is one to the agent's own model.
    const own = ownModel(request.agent, deps.catalogue);
    this.#provider = own?.provider ?? 'unknown';
    this.#model = own?.name ?? request.agent.model;
    const { res } = request;
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
    const { slots, rate, bodies } = this.#deps;
    const { agent } = this.#request;
    const held = bodies.heldBy(agent);
    let hasSlot = false;
    const takeSlot = (): void => {
      hasSlot = slots.take(agent, 1);
      if (!hasSlot) throw tooManyCalls();
    };
    try {
      if (!rate.allows(agent.agentId, this.#began)) throw tooManyCalls();
      await this.#pass(await this.#prepare(held, takeSlot));
    } catch (error) {
      await this.#fail(error);
    }
    this.#deadline.done();
    if (hasSlot) slots.giveBack(agent, 1);
    held.giveBack();
  }

  /** Prepares the outgoing request once the ledger has it. Nothing else of the guest's request is kept. */
  async #prepare(held: HeldShare, takeSlot: () => void): Promise<Exchange> {
    const { secrets, catalogue } = this.#deps;
    const { wire, asked, agent, req } = this.#request;
    const body = await readBody(req, this.#deps, agent.agentId, held);
    takeSlot();
    body.refuseOtherSpellings([...lookedAt, ...billedFields(wire.billing)]);
    const stream = streamOf(asked, body);
    const target = pickTarget(agent, modelOf(asked, body), wire, catalogue);
    this.#provider = target.provider.id;
    this.#model = target.model;
    const key = openKey(agent, target.provider.id, secrets);
    this.#secrets = [...(key === null ? [] : [key]), ...Object.values(target.provider.headers)];
    this.#redact = redactor(this.#secrets);
    this.#recording?.ask(body.bytes, this.#redact);
    const { hideUsage } = wire.prepare(body, target.provider, target.model);
    const url = `${target.endpoint.baseUrl}/${wire.providerPath(target.model, asked)}`;
    await this.#open(body);
    const headers = this.#headers(target, key, stream);
    return { target, request: { url, headers, body: body.toBytes() }, hideUsage };
  }

  async #open(body: JsonBody): Promise<void> {
    const { wire, asked, agent } = this.#request;
    this.#inputEstimate = estimateInput(body.bytes.length, body.weight);
    if (asked.action === 'count') return;
    this.#limited = agent.spendLimited || this.#deps.recorder.payerIsLimited(agent.agentId);
    if (this.#limited) refuseUnpriced(body, wire.billing, this.#provider, this.#model);
    this.#outputEstimate = expectedOutput(body, wire.billing);
    const { agentId, accountId } = agent;
    const call = { id: this.#id, agentId, accountId, startedAt: this.#startedAt, api: wire.api, digest: body.digest };
    await this.#deps.recorder.open(
      { ...call, provider: this.#provider, model: this.#model },
      { inputTokens: this.#inputEstimate, outputTokens: this.#outputEstimate },
      this.#limited,
    );
    this.#isOpen = true;
  }

  async #pass({ target, request, hideUsage }: Exchange): Promise<void> {
    const { limits, upstream } = this.#deps;
    const { signal } = this.#deadline;
    this.#deadline.expect('first byte', limits.firstByteMs);
    signal.throwIfAborted();
    this.#sent = true;
    const send = () => upstream.send(target.provider, { method: 'POST', ...request, signal });
    const response = await sendAgain(send, limits.retryAfterMs, signal);
    this.#status = response.statusCode;
    // A body that is given up half-way reports that as an error of its own.
    response.body.on('error', () => {});
    const reply = new Reply(response, this.#request.res, {
      wire: this.#request.wire,
      providerId: target.provider.id,
      hideUsage,
      redact: this.#redact,
      secrets: this.#secrets,
      agentId: this.#request.agent.agentId,
      reader: this.#deps.reader,
      deadline: this.#deadline,
      meter: this.#meter,
      recording: this.#recording,
      limits,
      firstByte: () => void (this.#firstByteMs ??= this.#elapsedMs()),
      beforeEnd: (failed) => this.#settle(failed ? 'provider_error' : 'ok'),
    });
    try {
      await reply.pass();
    } finally {
      response.body.destroy();
    }
  }

  /** The outgoing headers are written anew: only those of the guest's headers that the wire names are copied. */
  #headers({ provider, endpoint }: Target, key: string | null, stream: boolean): Record<string, string> {
    const { wire, req } = this.#request;
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'lodge',
      ...wire.defaultHeaders,
    };
    for (const name of wire.requestHeaders) {
      const value = req.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    return { ...headers, ...provider.headers, ...(key === null ? {} : keyHeader(endpoint.keyHeader, key)) };
  }

  async #fail(error: unknown): Promise<void> {
    const { wire, req, res } = this.#request;
    const gaveUp = this.#deadline.gaveUp;
    if (isConnectFailure(error)) this.#sent = false;
    const left = res.destroyed || (req.destroyed && !req.complete);
    if (left || gaveUp === 'guest left' || gaveUp === 'guest stalled' || gaveUp === 'shutdown') {
      res.destroy();
      return this.#settle('cancelled');
    }
    const reason = error instanceof CallError ? error : this.#providerFailure(error);
    if (reason.outcome !== 'refused' || reason.status >= 500) this.#logFailure(reason);
    await this.#settle(reason.outcome);
    if (res.headersSent) res.destroy();
    else sendError(req, res, wire, reason);
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
        agent_id: this.#request.agent.agentId,
        provider: this.#provider,
        provider_status: this.#status,
        reason: reason.message,
        gave_up: this.#deadline.gaveUp ?? undefined,
        cause: causeText === undefined ? undefined : this.#redact(causeText),
      },
      'LLM call failed',
    );
  }

  /** Closes the call in the ledger, once: what comes first is how it ended. */
  #settle(outcome: LlmCall['outcome']): Promise<void> {
    if (this.#request.asked.action === 'count') return Promise.resolve();
    return (this.#settled ??= this.#record(outcome));
  }

  #record(outcome: LlmCall['outcome']): Promise<void> {
    // A call that reached nobody costs nothing, and its contents would be kept without end.
    const content = this.#isOpen ? (this.#recording?.seal(this.#id, this.#deps.secrets) ?? null) : null;
    return this.#deps.recorder.record(this.#row(outcome), { limited: this.#limited, isOpen: this.#isOpen, content });
  }

  #row(outcome: LlmCall['outcome']): UnpricedCall {
    const { wire, agent } = this.#request;
    const { usage, estimated } = this.#used(outcome);
    return {
      id: this.#id,
      agentId: agent.agentId,
      accountId: agent.accountId,
      provider: this.#provider,
      model: this.#model,
      api: wire.api,
      startedAt: this.#startedAt,
      durationMs: this.#elapsedMs(),
      timeToFirstByteMs: this.#firstByteMs,
      status: this.#status,
      outcome,
      estimated,
      ...usage,
    };
  }

  /**
   * A provider bills what it answered, and what it took in and whose answer did not come through; not what it refused or
   * never got. Nobody knows the usage of a call that was given up here: models think unseen, and providers go on when nobody
   * listens. Where a spend limit holds it counts as all that it may have cost, or leaving early would be free.
   */
  #used(outcome: LlmCall['outcome']): ReturnType<TokenMeter['usage']> {
    const unanswered = this.#status === null && this.#sent;
    const accepted = this.#status !== null && this.#status < 300;
    const gaveUp = outcome === 'cancelled' || this.#deadline.gaveUp !== null;
    const leastOutput = gaveUp && this.#limited ? this.#outputEstimate : 0;
    if (unanswered || (accepted && !this.#meter.isFailedAtOnce)) {
      return this.#meter.usage(this.#inputEstimate, leastOutput);
    }
    return { usage: noTokens, estimated: false };
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#began);
  }
}

/** A call as it is made to a provider. */
interface Exchange {
  readonly target: Target;
  readonly request: SentRequest;
  /** The reply will hold a usage event that the guest did not ask for. */
  readonly hideUsage: boolean;
}

interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Fields of the root that Lodge reads or writes, beside those that tell the price. */
const lookedAt = ['model', 'stream', 'stream_options', 'store', 'messages', 'background'];

/** Anything that one reader takes for true and another for false is refused. */
function streamOf(asked: Asked, body: JsonBody): boolean {
  const stream = body.value('stream') ?? false;
  if (typeof stream !== 'boolean') throw invalidRequest('invalid_value', 'stream must be true or false.');
  return asked.stream ?? stream;
}

const tooManyCalls = (): CallError =>
  tooMany('too_many_calls', 'Too many model calls at once. Try again in a moment.', 1);
