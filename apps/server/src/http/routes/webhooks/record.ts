import { Webhook, WebhookDelivery } from '@lodge/contract';
import type { WebhookWithSecret } from '@lodge/contract';
import type { DeliveryRow, MadeWebhook, WebhookRow } from '@lodge/engine';
import { toWire } from '../../reply/to-wire.ts';

export const webhookRecord = (row: WebhookRow): Webhook =>
  toWire(Webhook, { ...row, events: row.patterns, previousSecretUntil: row.previousUntil });

export const withSecret = ({ row, secret }: MadeWebhook): WebhookWithSecret => ({ ...webhookRecord(row), secret });

export const deliveryRecord = (row: DeliveryRow): WebhookDelivery =>
  toWire(WebhookDelivery, {
    ...row,
    eventType: row.type,
    nextAttemptAt: row.nextAt,
    responseStatus: row.status,
  });
