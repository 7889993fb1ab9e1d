/** Webhooks as people name and see them. */
import type { Webhook } from '@lodge/sdk';
import { named } from '../gathered.ts';
import type { Run } from '../run.ts';
import { cell } from '../terminal/output.ts';
import type { Output } from '../terminal/output.ts';
import { yesNo } from '../terminal/words.ts';

export const webhookArgument = ['<webhook>', 'id or address of the webhook'] as const;

export async function webhookOf(run: Run, meant: string): Promise<Webhook> {
  const lodge = await run.lodge();
  return named(lodge.webhooks.list(run.call), meant, ({ url }) => url, 'webhook');
}

export const webhookFields = (out: Output, webhook: Webhook): string =>
  out.fields([
    ['id', cell(webhook.id)],
    ['address', cell(webhook.url)],
    ['events', cell(webhook.events.join(' '))],
    ['description', cell(webhook.description || null)],
    ['enabled', yesNo(webhook.enabled)],
    ['reason', cell(webhook.disabled_reason)],
    ['secret', cell(`...${webhook.secret_last4}`)],
    ['pending', cell(webhook.pending)],
    ['failing since', cell(webhook.failing_since)],
    ['created', cell(webhook.created_at)],
  ]);
