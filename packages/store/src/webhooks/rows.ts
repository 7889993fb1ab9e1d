import type { DeliveryRow, WebhookRow } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import type { DeliveriesTable, WebhooksTable } from './tables.ts';

export type WebhookColumns = Omit<Selectable<WebhooksTable>, 'sealed_secret' | 'sealed_previous' | 'position'> & {
  readonly pending: number;
};

/** Columns of a row `w` of webhooks, without its secrets. */
export const webhookColumns: RawBuilder<unknown> = sql`
  w.id, w.account_id, w.url, w.description, w.patterns, w.enabled, w.disabled_reason, w.secret_last4,
  case when w.previous_until > clock_timestamp() then w.previous_until end as previous_until, w.failing_since, w.created_at,
  w.updated_at,
  (select count(*)::int from webhook_deliveries d where d.webhook_id = w.id and d.state = 'pending') as pending
`;

export const toWebhook = (row: WebhookColumns): WebhookRow => ({
  id: row.id,
  accountId: row.account_id,
  url: row.url,
  description: row.description,
  patterns: row.patterns,
  enabled: row.enabled,
  disabledReason: row.disabled_reason,
  secretLast4: row.secret_last4,
  previousUntil: row.previous_until,
  failingSince: row.failing_since,
  pending: row.pending,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export type DeliveryColumns = Omit<Selectable<DeliveriesTable>, 'body' | 'first_attempt_at'>;

/** Columns of a row `d` of deliveries. */
export const deliveryColumns: RawBuilder<unknown> = sql`
  d.id, d.webhook_id, d.event_id, d.type, d.agent_id, d.state, d.attempts, d.next_at, d.last_attempt_at, d.status, d.reason,
  d.duration_ms, d.created_at, d.ended_at
`;

export const toDelivery = (row: DeliveryColumns): DeliveryRow => ({
  id: BigInt(row.id),
  webhookId: row.webhook_id,
  eventId: row.event_id === null ? null : BigInt(row.event_id),
  type: row.type,
  agentId: row.agent_id,
  state: row.state,
  attempts: row.attempts,
  nextAt: row.next_at,
  lastAttemptAt: row.last_attempt_at,
  status: row.status,
  reason: row.reason,
  durationMs: row.duration_ms,
  createdAt: row.created_at,
  endedAt: row.ended_at,
});
