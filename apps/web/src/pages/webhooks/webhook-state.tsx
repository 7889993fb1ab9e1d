import type { Webhook, WebhookDelivery } from '@lodge/sdk';
import { Badge } from '../../components/badge.tsx';
import type { Tone } from '../../components/badge.tsx';

export function WebhookState({ webhook }: { webhook: Webhook }) {
  if (!webhook.enabled) return <Badge tone={webhook.disabled_reason === null ? 'quiet' : 'bad'}>Disabled</Badge>;
  if (webhook.failing_since !== null) return <Badge tone="warning">Failing</Badge>;
  return <Badge tone="good">Enabled</Badge>;
}

const deliveryStates: Readonly<Record<WebhookDelivery['state'], readonly [Tone, string]>> = {
  pending: ['warning', 'Waiting'],
  delivered: ['good', 'Delivered'],
  failed: ['bad', 'Given up'],
};
export const deliveryNames = Object.entries(deliveryStates).map(([state, [, name]]) => [state, name] as const);

export function DeliveryStateBadge({ delivery }: { delivery: WebhookDelivery }) {
  const [tone, name] = deliveryStates[delivery.state];
  return <Badge tone={tone}>{name}</Badge>;
}
