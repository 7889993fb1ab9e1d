/** Attempts at deliveries, as their holder reads and writes them. */
import type { DeliveryState } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { WebhookDeliveries } from '../database/tables.ts';
import { isHeld } from './held.ts';
import type { HeldWebhook } from './held.ts';

export interface DueDelivery extends Pick<
  Selectable<WebhookDeliveries>,
  'id' | 'type' | 'agentId' | 'body' | 'attempts'
> {
  readonly nextAt: Date;
}

/** Returns pending deliveries after the one of this id, due or not, in the order of their events. */
export const pendingDeliveries = (
  db: Queries,
  { id }: HeldWebhook,
  limit: number,
  after: string | null,
): Promise<readonly DueDelivery[]> =>
  db
    .selectFrom('webhookDeliveries')
    .select(['id', 'type', 'agentId', 'body', 'attempts', 'nextAt'])
    .where('webhookId', '=', id)
    .where('state', '=', 'pending')
    .$if(after !== null, (query) => query.where('id', '>', after!))
    .orderBy('id')
    .limit(limit)
    .$narrowType<{ nextAt: Date }>()
    .execute();

export interface DeliveryAttempt {
  readonly id: string;
  readonly state: DeliveryState;
  /** The wait for the next attempt, of a pending one; null otherwise. */
  readonly afterMs: number | null;
  readonly status: number | null;
  /** Null when it was delivered. */
  readonly reason: string | null;
  readonly durationMs: number;
  readonly attemptedAt: Date;
}

/**
 * Writes attempts, and whether the receiver accepts nothing since then; `isFailing` keeps an earlier time. False when the lease
 * has ended; then nothing is written. It is one statement. Attempts written at the very end of the lease are still true.
 */
export async function writeAttempts(
  db: Queries,
  held: HeldWebhook,
  attempts: readonly DeliveryAttempt[],
  isFailing: boolean,
): Promise<boolean> {
  const { rows } = await sql`
    with held as (
      select w.id from webhooks w where ${isHeld(held)} for no key update
    ), settled as (
      update webhook_deliveries d
      set state = r.state, attempts = d.attempts + 1, status = r.status, reason = r.reason, duration_ms = r."durationMs",
        first_attempt_at = coalesce(d.first_attempt_at, r."attemptedAt"), last_attempt_at = r."attemptedAt",
        next_at = clock_timestamp() + r."afterMs" * interval '1 millisecond',
        ended_at = case when r.state <> 'pending' then clock_timestamp() end
      from held, jsonb_to_recordset(${JSON.stringify(attempts)}::jsonb) r (
        id bigint, state text, "afterMs" double precision, status integer, reason text, "durationMs" integer,
        "attemptedAt" timestamptz
      )
      where d.id = r.id and d.webhook_id = held.id and d.state = 'pending'
    ), judged as (
      update webhooks w set failing_since = case when ${isFailing} then clock_timestamp() end
      from held where w.id = held.id and (w.failing_since is null) = ${isFailing}
    )
    select pg_notify('webhook_attempted', ${held.accountId}) from held
  `.execute(db);
  return rows.length === 1;
}
