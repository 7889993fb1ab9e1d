import type { Webhook, WebhookDelivery, WebhookWithSecret } from '@lodge/contract';
import type { MadeWebhook } from '@lodge/engine';
import type { DeliveryRow, WebhookRow } from '@lodge/ports';

const time = (at: Date | null): string | null => at && at.toISOString();

export const webhookRecord = (row: WebhookRow): Webhook => ({
  object: 'webhook',
  id: row.id,
  url: row.url,
  events: [...row.patterns],
  description: row.description,
  enabled: row.enabled,
  disabled_reason: row.disabledReason,
  secret_last4: row.secretLast4,
  previous_secret_until: time(row.previousUntil),
  failing_since: time(row.failingSince),
  pending: row.pending,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
});

export const withSecret = ({ row, secret }: MadeWebhook): WebhookWithSecret => ({ ...webhookRecord(row), secret });

export const deliveryRecord = (row: DeliveryRow): WebhookDelivery => ({
  object: 'webhook_delivery',
  id: String(row.id),
  webhook_id: row.webhookId,
  event_id: row.eventId === null ? null : String(row.eventId),
  event_type: row.type,
  agent_id: row.agentId,
  state: row.state,
  attempts: row.attempts,
  next_attempt_at: time(row.nextAt),
  last_attempt_at: time(row.lastAttemptAt),
  response_status: row.status,
  reason: row.reason,
  duration_ms: row.durationMs,
  created_at: row.createdAt.toISOString(),
  ended_at: time(row.endedAt),
});
