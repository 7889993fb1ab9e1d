/**
 * Webhooks and their deliveries. An event makes a delivery in the transaction that moves the webhook's position past it. A
 * delivery ends when its receiver has accepted it, or when it was given up. One process at a time delivers for a webhook,
 * under a lease whose number fences its writes. Deliveries that a killed process had sent and not recorded are sent again.
 */
import type { EventType } from '@lodge/domain';

export type DeliveryState = 'pending' | 'delivered' | 'failed';

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
