import type { DeliveryResult, HeldWebhook } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { isHeldUnder } from '../work/leases.ts';

/**
 * Writes the results of attempts, and whether the receiver accepts anything at all. It is one statement. Results written at
 * the very end of the lease are still true.
 */
export async function settleDeliveries(
  db: Kysely<Schema>,
  { id, accountId, lease }: HeldWebhook,
  results: readonly DeliveryResult[],
): Promise<boolean> {
  const rows = results.map((result) => ({
    id: String(result.id),
    state: result.outcome === 'again' ? 'pending' : result.outcome,
    after_ms: result.outcome === 'again' ? result.afterMs : null,
    status: result.status,
    reason: result.outcome === 'delivered' ? null : result.reason,
    duration_ms: Math.round(result.durationMs),
    attempted_at: result.attemptedAt.toISOString(),
  }));
  const hasTaken = results.some(({ outcome }) => outcome === 'delivered');
  const { rows: held } = await sql`
    with held as (
      select w.id from webhooks w
      where w.id = ${id} and ${isHeldUnder('w', lease)} and w.enabled
      for no key update
    ), settled as (
      update webhook_deliveries d
      set state = r.state, attempts = d.attempts + 1, status = r.status, reason = r.reason, duration_ms = r.duration_ms,
        first_attempt_at = coalesce(d.first_attempt_at, r.attempted_at), last_attempt_at = r.attempted_at,
        next_at = clock_timestamp() + r.after_ms * interval '1 millisecond',
        ended_at = case when r.state <> 'pending' then clock_timestamp() end
      from held, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) r (
        id bigint, state text, after_ms double precision, status integer, reason text, duration_ms integer,
        attempted_at timestamptz
      )
      where d.id = r.id and d.webhook_id = held.id and d.state = 'pending'
    ), judged as (
      update webhooks w set failing_since = ${hasTaken ? sql`null` : sql`coalesce(w.failing_since, clock_timestamp())`}
      from held where w.id = held.id and ${hasTaken ? sql`w.failing_since is not null` : sql`w.failing_since is null`}
    )
    select pg_notify('webhook_attempted', ${accountId}) from held
  `.execute(db);
  return held.length === 1;
}
