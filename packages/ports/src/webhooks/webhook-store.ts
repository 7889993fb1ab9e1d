/**
 * Webhooks and their deliveries. An event makes a delivery in the transaction that moves the webhook's position past it. A
 * delivery ends when its receiver has accepted it, or when it was given up. One process at a time delivers for a webhook,
 * under a lease whose number fences its writes. Deliveries that a killed process had sent and not recorded are sent again.
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
  /** The time until which the previous secret signs too; null when none does. */
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

/**
 * A change; absent fields stay. A webhook that is enabled again receives events from then on, and its pending deliveries.
 */
export interface WebhookChange {
  readonly url?: string;
  readonly description?: string;
  readonly patterns?: readonly string[];
  readonly enabled?: boolean;
  /** The new secret. The present one signs for `overlapMs` longer. */
  readonly secret?: { readonly sealed: string; readonly last4: string; readonly overlapMs: number };
}

export type DeliveryState = 'pending' | 'delivered' | 'failed';

export interface DeliveryRow {
  readonly id: bigint;
  readonly webhookId: string;
  /** Null for a test. */
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
  /** Returns deliveries before this one, newest first. */
  readonly before?: bigint;
  readonly state?: DeliveryState;
}

/** Webhooks as the API uses them. Null means that the account has no such webhook, or the webhook no such delivery. */
export interface WebhookStore {
  /** Creates a webhook; null when the account has its maximum. */
  create(accountId: string, webhook: NewWebhook, maxWebhooks: number, note: ActorNote): Promise<WebhookRow | null>;
  list(accountId: string): Promise<readonly WebhookRow[]>;
  get(accountId: string, id: string): Promise<WebhookRow | null>;
  change(accountId: string, id: string, change: WebhookChange, note: ActorNote): Promise<WebhookRow | null>;
  remove(accountId: string, id: string, note: ActorNote): Promise<boolean>;
  deliveries(query: DeliveryQuery): Promise<readonly DeliveryRow[] | null>;
  delivery(accountId: string, webhookId: string, id: bigint): Promise<DeliveryRow | null>;
  /** Makes a separate delivery that is due at once, whatever the patterns are. */
  test(accountId: string, id: string, type: string, body: string): Promise<DeliveryRow | null>;
  /** Makes a delivery due at once, with a fresh count of attempts. A pending one stays pending. */
  redeliver(accountId: string, webhookId: string, id: bigint): Promise<DeliveryRow | null>;
  /** Calls back with an account's id when any process made attempts; null means that some may have been made. */
  onAttempt(listener: (accountId: string | null) => void): () => void;
}

/** A webhook for which this process delivers. */
export interface HeldWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly types: readonly EventType[];
  readonly sealedSecret: string;
  /** Null when there is none, or it has expired. */
  readonly sealedPrevious: string | null;
  readonly previousUntil: Date | null;
  readonly failingSince: Date | null;
  /** Fences the writes of the lease. */
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

/** The result of an attempt. */
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

/** Webhooks as their deliverer uses them. Requests under an ended lease are refused with false or nothing. */
export interface WebhookQueue {
  /** Calls back with an account's id when any process has work besides events; null means that there may be some. */
  onWork(listener: (accountId: string | null) => void): () => void;
  /** Claims enabled webhooks that nobody holds and that have work, up to `limit`. */
  claim(asked: {
    readonly holder: string;
    readonly limit: number;
    readonly leaseMs: number;
  }): Promise<readonly HeldWebhook[]>;
  /** Returns the webhooks that this process still holds, in their present state, so a new address or secret is used. */
  renew(held: readonly HeldWebhook[], leaseMs: number): Promise<readonly HeldWebhook[]>;
  release(held: readonly HeldWebhook[]): Promise<void>;
  /**
   * Makes deliveries of the next events, at most `limit`, while fewer than `maxPending` are pending. `more` says that there
   * are further events.
   */
  takeEvents(
    held: HeldWebhook,
    limit: number,
    maxPending: number,
  ): Promise<{ readonly made: readonly DueDelivery[]; readonly more: boolean } | null>;
  /** Returns pending deliveries after `after`, due or not, in the order of their events. */
  pending(held: HeldWebhook, limit: number, after: bigint | null): Promise<readonly DueDelivery[]>;
  /** Writes results. False when the lease has ended; then nothing is written. */
  settle(held: HeldWebhook, results: readonly DeliveryResult[]): Promise<boolean>;
  /** Disables the webhook with its event. Pending deliveries stay. */
  disable(held: HeldWebhook, reason: string): Promise<boolean>;
  /** Deletes ended deliveries that are older, or beyond the newest `keep` of a webhook, in short steps. */
  prune(bounds: { readonly maxAgeMs: number; readonly keep: number }): Promise<void>;
}

/** The context bound to a sealed secret of a webhook. */
export const webhookSecretContext = (webhookId: string): string => `webhook-secret:${webhookId}`;
