import { maxPatterns } from '@lodge/domain';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns, wholeList } from '../text.ts';

const deliveryStates = ['pending', 'delivered', 'failed'] as const;

const url = Type.String({
  minLength: 1,
  maxLength: 2_000,
  pattern: patterns.webUrl,
  description: 'Where events are sent, by https. Private addresses are refused unless the operator allows them.',
  examples: ['https://example.com/hooks/lodge'],
});
const events = Type.Array(Type.String({ maxLength: 90, pattern: patterns.eventPattern, examples: ['agent.*'] }), {
  minItems: 1,
  maxItems: maxPatterns,
  description: 'Types of events: a type such as `agent.paused`, a family such as `agent.*`, or `*` for all.',
  examples: [['agent.*', 'usage.limit_reached']],
});
const description = Type.String({ maxLength: 500, pattern: patterns.text, description: 'A label of your own.' });
const enabled = Type.Boolean({ description: 'A disabled webhook is told nothing.' });
const secret = Type.String({ description: 'Shown this once. Signatures are made with it.', examples: ['whsec_…'] });

const record = {
  object: Type.Literal('webhook'),
  id: Type.String(),
  url,
  events,
  description,
  enabled,
  disabled_reason: nullable(Type.String({ description: 'Why Lodge disabled it.' })),
  secret_last4: Type.String(),
  previous_secret_until: nullable(
    Type.String({ format: 'date-time', description: 'Until then the secret before signs too.' }),
  ),
  failing_since: nullable(Type.String({ format: 'date-time', description: 'Since then every attempt has failed.' })),
  pending: Type.Integer({ description: 'Deliveries that wait for their turn, or for the next attempt.' }),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const Webhook = Type.Object(record, { title: 'Webhook', additionalProperties: false });
export type Webhook = Static<typeof Webhook>;

export const WebhookWithSecret = Type.Object(
  { ...record, secret },
  { title: 'WebhookWithSecret', additionalProperties: false },
);
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

export const WebhookList = wholeList(Webhook, 'WebhookList');

export const CreateWebhook = Type.Object(
  { url, events, description: Type.Optional(description), enabled: Type.Optional(enabled) },
  {
    title: 'CreateWebhook',
    additionalProperties: false,
    examples: [{ url: 'https://example.com/hooks/lodge', events: ['agent.*', 'usage.limit_reached'] }],
  },
);

export const UpdateWebhook = Type.Object(
  {
    url: Type.Optional(url),
    events: Type.Optional(events),
    description: Type.Optional(description),
    enabled: Type.Optional(enabled),
  },
  { title: 'UpdateWebhook', additionalProperties: false, minProperties: 1, examples: [{ enabled: false }] },
);

export const RotateWebhookSecret = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 7 * 86_400,
        default: 86_400,
        description: 'How long the present secret goes on signing beside the new one.',
      }),
    ),
  },
  { title: 'RotateWebhookSecret', additionalProperties: false, examples: [{ overlap_seconds: 3600 }] },
);

export const WebhookParams = Type.Object({ webhook: Type.String({ description: "The webhook's id." }) });
export const DeliveryParams = Type.Object({
  ...WebhookParams.properties,
  delivery: Type.String({ description: "The delivery's id." }),
});

export const WebhookDeleted = Type.Object(
  { object: Type.Literal('webhook.deleted'), id: Type.String(), deleted: Type.Literal(true) },
  { title: 'WebhookDeleted', additionalProperties: false },
);

export const WebhookDelivery = Type.Object(
  {
    object: Type.Literal('webhook_delivery'),
    id: Type.String(),
    webhook_id: Type.String(),
    event_id: nullable(Type.String({ description: 'Null: a test.' })),
    event_type: Type.String(),
    agent_id: nullable(Type.String()),
    state: oneOf(deliveryStates),
    attempts: Type.Integer(),
    next_attempt_at: nullable(Type.String({ format: 'date-time' })),
    last_attempt_at: nullable(Type.String({ format: 'date-time' })),
    response_status: nullable(Type.Integer({ description: 'Of the last attempt that was answered.' })),
    reason: nullable(Type.String({ description: 'What went wrong at the last attempt.' })),
    duration_ms: nullable(Type.Integer()),
    created_at: Timestamp,
    ended_at: nullable(Type.String({ format: 'date-time' })),
  },
  { title: 'WebhookDelivery', additionalProperties: false },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookDeliveryList = listOf(WebhookDelivery, 'WebhookDeliveryList');

export const ListDeliveriesQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Deliveries per page.' })),
    cursor: pageCursor(),
    state: Type.Optional(oneOf(deliveryStates, { description: 'Only deliveries in this state.' })),
  },
  { additionalProperties: false },
);
