/**
 * Webhooks and their deliveries. An event makes a delivery in the transaction that moves the webhook's position past it; a
 * delivery ends when its receiver has taken it, or was given up. One process delivers for a webhook at a time, under a lease
 * whose number fences what it writes: what a killed one had sent and not written is sent again.
 */
import type { EventType } from '@lodge/domain';
import type { ActorNote } from '../events/change-note.ts';

export interface WebhookRow {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly description: string;
  readonly patterns: readonly string[];
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly secretLast4: string;
  /** Until when the secret before signs too; null where none does. */
  readonly previousUntil: Date | null;
  readonly failingSince: Date | null;
  readonly pending: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewWebhook {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  readonly patterns: readonly string[];
  readonly enabled: boolean;
  /** See `webhookSecretContext`. */
  readonly sealedSecret: string;
  readonly secretLast4: string;
}

/** What a change leaves out stays. A webhook that is enabled again is told of events from then on, and of what is pending. */
export interface WebhookChange {
  readonly url?: string;
  readonly description?: string;
  readonly patterns?: readonly string[];
  readonly enabled?: boolean;
  /** The present secret signs for `overlapMs` longer. */
  readonly secret?: { readonly sealed: string; readonly last4: string; readonly overlapMs: number };
}

export type DeliveryState = 'pending' | 'delivered' | 'failed';

export interface DeliveryRow {
  readonly id: bigint;
  readonly webhookId: string;
  /** Null: a test. */
  readonly eventId: bigint | null;
  readonly type: string;
  readonly agentId: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAt: Date | null;
  readonly lastAttemptAt: Date | null;
  readonly status: number | null;
  readonly reason: string | null;
  readonly durationMs: number | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

export interface DeliveryQuery {
  readonly accountId: string;
  readonly webhookId: string;
  readonly limit: number;
  /** Deliveries before this one: newest come first. */
  readonly before?: bigint;
  readonly state?: DeliveryState;
}

/** Of the API. Null: the account has no such webhook, or it no such delivery. */
export interface WebhookStore {
  /** Null: the account has as many as it may have. */
  create(accountId: string, webhook: NewWebhook, maxWebhooks: number, note: ActorNote): Promise<WebhookRow | null>;
  list(accountId: string): Promise<readonly WebhookRow[]>;
  get(accountId: string, id: string): Promise<WebhookRow | null>;
  change(accountId: string, id: string, change: WebhookChange, note: ActorNote): Promise<WebhookRow | null>;
  remove(accountId: string, id: string, note: ActorNote): Promise<boolean>;
  deliveries(query: DeliveryQuery): Promise<readonly DeliveryRow[] | null>;
  delivery(accountId: string, webhookId: string, id: bigint): Promise<DeliveryRow | null>;
  /** A delivery of its own, due at once, whatever the patterns are. */
  test(accountId: string, id: string, type: string, body: string): Promise<DeliveryRow | null>;
  /** Due at once, with a fresh count of attempts. One that is pending stays so. */
  redeliver(accountId: string, webhookId: string, id: bigint): Promise<DeliveryRow | null>;
  /** Calls back with an account's id when attempts were made, in any process; null: some may have been. */
  onAttempt(listener: (accountId: string | null) => void): () => void;
}

/** A webhook that this process delivers for. */
export interface HeldWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly types: readonly EventType[];
  readonly sealedSecret: string;
  /** Null: none, or its time is over. */
  readonly sealedPrevious: string | null;
  readonly previousUntil: Date | null;
  readonly failingSince: Date | null;
  /** Fences what the lease may write. */
  readonly lease: number;
}

export interface DueDelivery {
  readonly id: bigint;
  readonly type: string;
  readonly agentId: string | null;
  readonly body: string;
  readonly attempts: number;
  readonly nextAt: Date;
}

/** What came of an attempt. */
export type DeliveryResult = {
  readonly id: bigint;
  readonly attemptedAt: Date;
  readonly durationMs: number;
  readonly status: number | null;
} & (
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'again'; readonly afterMs: number; readonly reason: string }
  | { readonly outcome: 'failed'; readonly reason: string }
);

/** Of who delivers. Whatever a lease that has ended asks for is refused: false, or nothing. */
export interface WebhookQueue {
  /** Calls back with an account's id when there is something to do beside events, in any process; null: there may be. */
  onWork(listener: (accountId: string | null) => void): () => void;
  /** Enabled webhooks that nobody holds and that have something to do, as far as there is room. */
  claim(asked: {
    readonly holder: string;
    readonly limit: number;
    readonly leaseMs: number;
  }): Promise<readonly HeldWebhook[]>;
  /** Those that this process still holds, as they are now: a change of address or secret is seen by it. */
  renew(held: readonly HeldWebhook[], leaseMs: number): Promise<readonly HeldWebhook[]>;
  release(held: readonly HeldWebhook[]): Promise<void>;
  /** Makes deliveries of the next events, at most `limit`, while fewer than `maxPending` are pending; `more`: there are further events. */
  takeEvents(
    held: HeldWebhook,
    limit: number,
    maxPending: number,
  ): Promise<{ readonly made: readonly DueDelivery[]; readonly more: boolean } | null>;
  /** Pending ones, due or not, in the order of their events, after `after`. */
  pending(held: HeldWebhook, limit: number, after: bigint | null): Promise<readonly DueDelivery[]>;
  /** False: the lease has ended, and nothing is written. */
  settle(held: HeldWebhook, results: readonly DeliveryResult[]): Promise<boolean>;
  /** With its event; what is pending stays. */
  disable(held: HeldWebhook, reason: string): Promise<boolean>;
  /** Deletes ended deliveries that are older, or beyond the newest `keep` of a webhook, in short steps. */
  prune(bounds: { readonly maxAgeMs: number; readonly keep: number }): Promise<void>;
}

/** What a sealed secret of a webhook is bound to. */
export const webhookSecretContext = (webhookId: string): string => `webhook-secret:${webhookId}`;
