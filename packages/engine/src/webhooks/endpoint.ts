/**
 * One receiver, for as long as this process delivers to it: makes deliveries of events, sends them, and writes their
 * outcomes.
 *
 * Deliveries about one agent form a lane: the next is sent when the end of the one before is written. Lanes run side by
 * side. A delivery that was sent and not written when the process dies is sent again by the next holder, under the same id.
 */
import { typesOf, webhookTestType } from '@lodge/domain';
import type { RetryRules } from '@lodge/domain';
import type { Log, WebhookAnswer, WebhookSender } from '@lodge/ports';
import { notify } from '@lodge/store/database';
import type { Database } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import {
  lockHeldWebhook,
  makeDeliveries,
  pendingDeliveries,
  releaseWebhooks,
  updateWebhook,
  writeAttempts,
} from '@lodge/store/webhooks';
import type { DeliveryAttempt, DueDelivery, HeldWebhook } from '@lodge/store/webhooks';
import { isFailing, outcomeOf, whyDisabled } from './outcome.ts';

export interface EndpointDeps {
  readonly database: Database;
  readonly sender: Pick<WebhookSender, 'send'>;
  /** Opens the secrets of a webhook, the present one first. */
  readonly secretsOf: (held: HeldWebhook) => readonly string[];
  /** Returns a place among all attempts of this process; null: none is free, and the endpoint is woken when one may be. */
  readonly places: { take(endpoint: Endpoint): (() => void) | null };
  /** Called when the endpoint has ended: its lease is over, or the webhook was disabled. */
  readonly ended: (endpoint: Endpoint) => void;
  readonly retries: RetryRules;
  readonly log: Log;
  readonly bounds: EndpointBounds;
}

export interface EndpointBounds {
  /** Concurrent attempts. */
  readonly atOnce: number;
  /** Most deliveries in memory. */
  readonly window: number;
  /** Most deliveries that wait for one receiver; beyond that its events wait in the event store. */
  readonly maxPending: number;
  /** Events that become deliveries in one transaction. */
  readonly step: number;
}

export const defaultEndpointBounds: EndpointBounds = { atOnce: 8, window: 500, maxPending: 10_000, step: 500 };

/** The lane of a delivery. A test waits for no event. */
const laneOf = ({ id, type, agentId }: DueDelivery): string =>
  type === webhookTestType ? `test ${id}` : (agentId ?? '');

export class Endpoint {
  held: HeldWebhook;
  private readonly deps: EndpointDeps;
  private readonly lanes = new Map<string, DueDelivery[]>();
  private readonly busy = new Set<string>();
  private readonly cut = new AbortController();
  private results: { readonly lane: string; readonly result: DeliveryAttempt }[] = [];
  private lastId: string | null = null;
  private count = 0;
  private mayHaveEvents = true;
  private mayHaveMore = true;
  private isStale = false;
  /** True while events wait for room among the pending deliveries. */
  private isFull = false;
  private round: Promise<void> | null = null;
  private isWanted = false;
  private timer: NodeJS.Timeout | undefined;
  /** When there was last something to do. */
  lastBusyAt = Date.now();

  constructor(deps: EndpointDeps, held: HeldWebhook) {
    this.deps = deps;
    this.held = held;
  }

  /** Says that the account has more events, or a place has become free. */
  wake(what: 'events' | 'work' | 'changed' = 'work'): void {
    if (what === 'events') this.mayHaveEvents = true;
    if (what === 'changed') this.isStale = true;
    if (this.cut.signal.aborted) return;
    if (this.round !== null) {
      this.isWanted = true;
      return;
    }
    this.isWanted = false;
    this.round = this.step()
      .catch((error: unknown) => {
        this.deps.log.warn({ err: error, webhook_id: this.held.id }, 'a webhook was not seen to; it will be again');
        this.isStale = true;
        this.later(1_000);
      })
      .finally(() => {
        this.round = null;
        if (this.isWanted) this.wake();
      });
  }

  get isIdle(): boolean {
    return this.busy.size === 0 && this.results.length === 0 && this.count === 0 && this.round === null;
  }

  /** Sends and writes nothing more; resolves when nothing is running. */
  async stop(): Promise<void> {
    this.cut.abort();
    clearTimeout(this.timer);
    await this.round;
  }

  private async step(): Promise<void> {
    await this.settle();
    if (this.cut.signal.aborted) return;
    if (this.isStale && this.busy.size === 0) this.forget();
    await this.take();
    await this.load();
    if (!this.isStale) this.send();
    if (this.count > 0 || this.busy.size > 0) this.lastBusyAt = Date.now();
  }

  private end(): void {
    this.cut.abort();
    clearTimeout(this.timer);
    this.deps.ended(this);
  }

  private forget(): void {
    this.lanes.clear();
    [this.count, this.lastId, this.isStale, this.mayHaveMore] = [0, null, false, true];
  }

  private async take(): Promise<void> {
    const { database, bounds } = this.deps;
    while (this.mayHaveEvents && !this.cut.signal.aborted) {
      this.mayHaveEvents = false;
      const { step: limit, maxPending } = bounds;
      const types = typesOf(this.held.patterns);
      const taken = await database.once((db) => makeDeliveries(db, this.held, types, { limit, maxPending }));
      if (taken === null) return this.end();
      this.made(taken.made);
      // If nothing was made there is no room; there will be when some have ended.
      this.isFull = taken.more && taken.made.length === 0;
      this.mayHaveEvents ||= taken.more && !this.isFull;
      if (this.count >= bounds.window) return;
    }
  }

  /** Adds new deliveries. They are the last ones, so if all earlier ones are here they need not be read again. */
  private made(deliveries: readonly DueDelivery[]): void {
    if (this.mayHaveMore || this.isStale || this.count + deliveries.length > this.deps.bounds.window) {
      this.mayHaveMore ||= deliveries.length > 0;
    } else this.add(deliveries);
  }

  private add(deliveries: readonly DueDelivery[]): void {
    for (const delivery of deliveries) {
      const lane = laneOf(delivery);
      const before = this.lanes.get(lane);
      if (before) before.push(delivery);
      else this.lanes.set(lane, [delivery]);
      this.lastId = delivery.id;
    }
    this.count += deliveries.length;
  }

  private async load(): Promise<void> {
    const { database, bounds } = this.deps;
    if (!this.mayHaveMore || this.isStale || this.count >= bounds.window / 2) return;
    const room = bounds.window - this.count;
    const found = await database.repeatable((db) => pendingDeliveries(db, this.held, room, this.lastId));
    this.mayHaveMore = found.length === room;
    this.add(found);
  }

  private send(): void {
    let nextMs = Infinity;
    for (const [lane, [first]] of this.lanes) {
      if (this.busy.size >= this.deps.bounds.atOnce) return;
      if (first === undefined || this.busy.has(lane)) continue;
      const waitMs = first.nextAt.getTime() - Date.now();
      if (waitMs > 0) {
        nextMs = Math.min(nextMs, waitMs);
        continue;
      }
      const leave = this.deps.places.take(this);
      if (leave === null) return;
      this.busy.add(lane);
      void this.attempt(lane, first).finally(leave);
    }
    if (nextMs < Infinity) this.later(nextMs);
  }

  private later(ms: number): void {
    clearTimeout(this.timer);
    if (!this.cut.signal.aborted) this.timer = setTimeout(() => this.wake(), Math.min(ms, 60_000));
  }

  private async attempt(lane: string, delivery: DueDelivery): Promise<void> {
    const { sender, secretsOf, retries } = this.deps;
    const at = new Date();
    const { url, id } = this.held;
    const message = { url, messageId: `msg_${id}_${delivery.id}`, at, body: delivery.body, signal: this.cut.signal };
    let answer: WebhookAnswer;
    try {
      answer = await sender.send({ ...message, secrets: secretsOf(this.held) });
    } catch (error) {
      this.deps.log.error({ err: error, webhook_id: id }, 'a delivery was not attempted');
      answer = { outcome: 'failed', status: null, reason: 'The attempt failed within Lodge.', retryAfterMs: null };
    }
    if (this.cut.signal.aborted) return;
    const facts = { id: delivery.id, attemptedAt: at, durationMs: Date.now() - at.getTime() };
    this.results.push({ lane, result: { ...facts, ...outcomeOf(retries, delivery, answer) } });
    if (answer.outcome === 'gone') this.isGone = answer.reason;
    this.wake();
  }

  private isGone: string | null = null;

  /** Writes the outcomes of attempts, all at once; their lanes go on then. */
  private async settle(): Promise<void> {
    // Further outcomes come while these are written.
    const ended = this.results.slice();
    if (ended.length === 0) return;
    const results = ended.map(({ result }) => result);
    const failing = isFailing(results);
    const { database } = this.deps;
    const isWritten = await database.repeatable((db) => writeAttempts(db, this.held, results, failing));
    if (!isWritten) return this.end();
    this.results = this.results.slice(ended.length);
    for (const { lane, result } of ended) this.advance(lane, result);
    if (this.isFull && results.some(({ state }) => state !== 'pending')) this.mayHaveEvents = true;
    if (!failing) this.held = { ...this.held, failingSince: null };
    await this.disableWhereDue();
  }

  private advance(lane: string, result: DeliveryAttempt): void {
    this.busy.delete(lane);
    const [first, ...rest] = this.lanes.get(lane) ?? [];
    if (first?.id !== result.id) return;
    if (result.afterMs !== null) {
      const nextAt = new Date(Date.now() + result.afterMs);
      this.lanes.set(lane, [{ ...first, attempts: first.attempts + 1, nextAt }, ...rest]);
      return;
    }
    this.count -= 1;
    if (rest.length === 0) this.lanes.delete(lane);
    else this.lanes.set(lane, rest);
  }

  private async disableWhereDue(): Promise<void> {
    const { database, retries, log } = this.deps;
    const reason = whyDisabled(retries, this.held, this.isGone);
    if (reason === null) return;
    this.end();
    await disable(database, this.held, reason);
    log.warn({ webhook_id: this.held.id, account_id: this.held.accountId, reason }, 'a webhook was disabled');
  }
}

/** Pending deliveries stay. Nothing is written once the lease has ended. */
const disable = (database: Database, held: HeldWebhook, reason: string): Promise<void> =>
  database.transaction(async (trx) => {
    if (!(await lockHeldWebhook(trx, held))) return;
    const { id, accountId } = held;
    await updateWebhook(trx, id, { enabled: false, disabledReason: reason });
    await releaseWebhooks(trx, [held]);
    await notify(trx, accountId, 'webhook_changed');
    const event = { type: 'webhook.disabled', data: { webhook_id: id, reason } } as const;
    await appendEvent(trx, { ...event, accountId, agentId: null, by: null, target: { kind: 'webhook', id } });
  });
