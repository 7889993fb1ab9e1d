/**
 * Delivers events to the webhooks of all accounts. One process at a time has a webhook, by a lease that it renews; a process
 * that dies leaves leases that end by themselves.
 */
import { Places, webhookRetries } from '@lodge/domain';
import type { RetryRules } from '@lodge/domain';
import { webhookSecretContext } from '@lodge/ports';
import type { EventStore, Log, SecretBox, WebhookSender } from '@lodge/ports';
import type { Database } from '@lodge/store/database';
import { claimWebhooks, releaseWebhooks, renewWebhooks } from '@lodge/store/webhooks';
import type { HeldWebhook } from '@lodge/store/webhooks';
import { deleteEnded } from '@lodge/store/work';
import { Periodic } from '../periodic.ts';
import { Endpoint, defaultEndpointBounds } from './endpoint.ts';
import type { EndpointBounds } from './endpoint.ts';

export interface DeliveringDeps {
  readonly database: Database;
  /** Calls back with an account's id when it has work besides events; null means that there may be some. */
  readonly onChange: (listener: (accountId: string | null) => void) => () => void;
  readonly events: Pick<EventStore, 'onAppend'>;
  readonly sender: WebhookSender;
  readonly secrets: SecretBox;
  readonly log: Log;
  /** Names this process. */
  readonly holder: string;
  readonly retries?: RetryRules;
  readonly bounds?: Partial<DeliveringBounds>;
}

export interface DeliveringBounds extends EndpointBounds {
  /** Most webhooks of this process. */
  readonly endpoints: number;
  /** Concurrent attempts, in all and of one account. */
  readonly attempts: number;
  readonly attemptsPerAccount: number;
  readonly leaseMs: number;
  /** How often the process looks for work without a notification. */
  readonly lookEveryMs: number;
  /** How long a webhook without work is kept. */
  readonly idleMs: number;
  readonly pruneEveryMs: number;
  /** How long ended deliveries are kept, and how many of a webhook. */
  readonly maxAgeMs: number;
  readonly kept: number;
}

const dayMs = 24 * 60 * 60_000;

export const defaultDeliveringBounds: DeliveringBounds = {
  ...defaultEndpointBounds,
  endpoints: 2_000,
  attempts: 512,
  attemptsPerAccount: 32,
  leaseMs: 15_000,
  lookEveryMs: 1_000,
  idleMs: 60_000,
  pruneEveryMs: 10 * 60_000,
  maxAgeMs: 7 * dayMs,
  kept: 10_000,
};

export class WebhookDelivering {
  private readonly deps: DeliveringDeps;
  private readonly bounds: DeliveringBounds;
  private readonly endpoints = new Map<string, Endpoint>();
  private readonly attempts: Places;
  /** Endpoints that found no place. */
  private readonly waiting = new Set<Endpoint>();
  private readonly rounds: readonly Periodic[];
  private looking: Promise<void> | null = null;
  private isWanted = false;
  private isStopping = false;
  private unsubscribe: (() => void)[] = [];

  constructor(deps: DeliveringDeps) {
    this.deps = deps;
    this.bounds = { ...defaultDeliveringBounds, ...deps.bounds };
    this.attempts = new Places({ perName: this.bounds.attemptsPerAccount, inAll: this.bounds.attempts });
    const { log, database } = deps;
    const { leaseMs, lookEveryMs, pruneEveryMs } = this.bounds;
    this.rounds = [
      new Periodic({ everyMs: lookEveryMs, log, failed: 'webhooks were not looked for', round: () => this.look() }),
      new Periodic({ everyMs: leaseMs / 3, log, failed: 'webhooks were not renewed', round: () => this.renew() }),
      new Periodic({
        everyMs: pruneEveryMs,
        log,
        failed: 'old deliveries not deleted; it will be repeated',
        round: () => deleteEnded(database, 'delivery', this.bounds),
      }),
    ];
  }

  start(): void {
    const { events, onChange } = this.deps;
    this.unsubscribe = [
      events.onAppend((account) => this.note(account, 'events')),
      onChange((account) => this.changed(account)),
    ];
    for (const round of this.rounds) round.start();
  }

  /** Breaks running attempts off; the next holder makes them again. */
  async stop(): Promise<void> {
    this.isStopping = true;
    for (const end of this.unsubscribe) end();
    await Promise.all(this.rounds.map((round) => round.stop()));
    await this.looking;
    const endpoints = [...this.endpoints.values()];
    this.endpoints.clear();
    await Promise.all(endpoints.map((endpoint) => endpoint.stop()));
    await this.release(endpoints).catch(() => undefined);
    await this.deps.sender.close();
  }

  private release(endpoints: readonly Pick<Endpoint, 'held'>[]): Promise<void> {
    const all = endpoints.map(({ held }) => held);
    return this.deps.database.repeatable((db) => releaseWebhooks(db, all));
  }

  private of(accountId: string | null): Endpoint[] {
    return [...this.endpoints.values()].filter(({ held }) => accountId === null || held.accountId === accountId);
  }

  /** A webhook of the account has changed, or has other deliveries. */
  private changed(accountId: string | null): void {
    void this.refresh(this.of(accountId))
      .catch((error: unknown) => this.deps.log.warn({ err: error }, 'webhooks were not renewed'))
      .finally(() => this.note(accountId, 'changed'));
  }

  /** Wakes the account's webhooks of this process at once, and looks for others. */
  private note(accountId: string | null, what: 'events' | 'changed'): void {
    const own = this.of(accountId);
    for (const endpoint of own) endpoint.wake(what);
    // Further webhooks of the account wait for the next round: a look at each event would cost more than the event.
    if (what === 'events' && own.length > 0) return;
    this.look().catch((error: unknown) => this.deps.log.warn({ err: error }, 'webhooks were not looked for'));
  }

  private look(): Promise<void> {
    if (this.isStopping) return Promise.resolve();
    if (this.looking !== null) {
      this.isWanted = true;
      return this.looking;
    }
    this.isWanted = false;
    this.looking = this.claim().finally(() => {
      this.looking = null;
      if (this.isWanted) void this.look().catch(() => undefined);
    });
    return this.looking;
  }

  private async claim(): Promise<void> {
    const { database, holder } = this.deps;
    const { endpoints, leaseMs } = this.bounds;
    const limit = endpoints - this.endpoints.size;
    if (limit <= 0) return;
    const asked = { holder, limit: Math.min(limit, 100), leaseMs };
    for (const held of await database.repeatable((db) => claimWebhooks(db, asked))) {
      if (this.isStopping) return this.release([{ held }]);
      // The lease had ended, and this process has it again under another number.
      await this.endpoints.get(held.id)?.stop();
      const endpoint = new Endpoint(this.endpointDeps(), held);
      this.endpoints.set(held.id, endpoint);
      endpoint.wake('events');
    }
  }

  private endpointDeps() {
    const { database, sender, secrets, log, retries = webhookRetries } = this.deps;
    const secretsOf = (held: HeldWebhook): readonly string[] => {
      const context = webhookSecretContext(held.id);
      const isGood = held.previousUntil !== null && held.previousUntil.getTime() > Date.now();
      const sealed = [held.sealedSecret, ...(isGood && held.sealedPrevious !== null ? [held.sealedPrevious] : [])];
      return sealed.map((each) => secrets.open(each, context));
    };
    const places = { take: (endpoint: Endpoint) => this.place(endpoint) };
    const ended = (endpoint: Endpoint): void => {
      if (this.endpoints.get(endpoint.held.id) === endpoint) this.endpoints.delete(endpoint.held.id);
    };
    return { database, sender, secretsOf, places, ended, retries, log, bounds: this.bounds };
  }

  private place(endpoint: Endpoint): (() => void) | null {
    const { accountId } = endpoint.held;
    if (!this.attempts.take(accountId)) {
      this.waiting.add(endpoint);
      return null;
    }
    return () => {
      this.attempts.giveBack(accountId);
      // Each of them asks again, because the first may have no use for the place.
      const waiting = [...this.waiting];
      this.waiting.clear();
      for (const each of waiting) each.wake();
    };
  }

  private async renew(): Promise<void> {
    const idle = [...this.endpoints.values()].filter(
      (endpoint) => endpoint.isIdle && Date.now() - endpoint.lastBusyAt > this.bounds.idleMs,
    );
    for (const endpoint of idle) this.endpoints.delete(endpoint.held.id);
    await Promise.all(idle.map((endpoint) => endpoint.stop()));
    await this.release(idle);
    await this.refresh([...this.endpoints.values()]);
    for (const endpoint of this.endpoints.values()) endpoint.wake();
  }

  /** Renews the leases and reads the current state of the webhooks. */
  private async refresh(present: readonly Endpoint[]): Promise<void> {
    const asked = present.map(({ held }) => held);
    const renewed = await this.deps.database.repeatable((db) => renewWebhooks(db, asked, this.bounds.leaseMs));
    const now = new Map(renewed.map((held) => [held.id, held]));
    for (const endpoint of present) {
      const held = now.get(endpoint.held.id);
      if (held?.leaseNumber === endpoint.held.leaseNumber) endpoint.held = held;
      else {
        if (this.endpoints.get(endpoint.held.id) === endpoint) this.endpoints.delete(endpoint.held.id);
        await endpoint.stop();
      }
    }
  }
}
