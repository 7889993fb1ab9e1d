import type { DeliveryResult, HeldWebhook } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';

/** Writes what came of attempts, and whether the receiver takes anything at all. Only within a lease. */
export async function settleDeliveries(
  trx: Transaction<Schema>,
  { id }: HeldWebhook,
  results: readonly DeliveryResult[],
): Promise<void> {
  const rows = results.map((result) => ({
    id: String(result.id),
    state: result.outcome === 'again' ? 'pending' : result.outcome,
    after_ms: result.outcome === 'again' ? result.afterMs : null,
    status: result.status,
    reason: result.outcome === 'delivered' ? null : result.reason,
    duration_ms: Math.round(result.durationMs),
    attempted_at: result.attemptedAt.toISOString(),
  }));
  await sql`
    update webhook_deliveries d
    set state = r.state, attempts = d.attempts + 1, status = r.status, reason = r.reason, duration_ms = r.duration_ms,
      first_attempt_at = coalesce(d.first_attempt_at, r.attempted_at), last_attempt_at = r.attempted_at,
      next_at = clock_timestamp() + r.after_ms * interval '1 millisecond',
      ended_at = case when r.state <> 'pending' then clock_timestamp() end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) r (
      id bigint, state text, after_ms double precision, status integer, reason text, duration_ms integer,
      attempted_at timestamptz
    )
    where d.id = r.id and d.webhook_id = ${id} and d.state = 'pending'
  `.execute(trx);
  const hasTaken = results.some(({ outcome }) => outcome === 'delivered');
  await sql`
    update webhooks set failing_since = ${hasTaken ? sql`null` : sql`coalesce(failing_since, clock_timestamp())`}
    where id = ${id} and ${hasTaken ? sql`failing_since is not null` : sql`failing_since is null`}
  `.execute(trx);
}
