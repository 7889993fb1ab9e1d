import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns } from '../text.ts';

const actorTypes = ['account', 'api_key', 'operator'] as const;

/** Text that names an object; an unknown one is of no event. */
const ofObject = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: patterns.token, description }));

/** An object of an event, by its kind and id. */
const who = { type: Type.String({ examples: ['api_key'] }), id: Type.String() };

export const AuditEvent = Type.Object(
  {
    object: Type.Literal('audit_event'),
    id: Type.String({ description: 'Rises with time, within one account.', examples: ['48213'] }),
    created_at: Timestamp,
    actor: Type.Object(
      {
        type: oneOf(actorTypes, {
          description: '`operator`: somebody at the command line of this deployment.',
        }),
        id: nullable(Type.String()),
      },
      { additionalProperties: false },
    ),
    action: Type.String({ examples: ['api_key.created'] }),
    target: Type.Unsafe<{ type: string; id: string } | null>({
      type: ['object', 'null'],
      properties: who,
      required: ['type', 'id'],
      additionalProperties: false,
      description: 'What it was done to.',
    }),
    address: nullable(Type.String({ description: 'Where the request came from.' })),
    request_id: nullable(Type.String({ description: "`X-Request-Id` of the request's reply." })),
    details: Type.Record(Type.String(), Type.Unknown(), { description: 'Further facts, never a secret.' }),
  },
  { title: 'AuditEvent', additionalProperties: false },
);
export type AuditEvent = Static<typeof AuditEvent>;

export const AuditEventList = listOf(AuditEvent, 'AuditEventList');

export const ListAuditEventsQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Events per page.' })),
    cursor: pageCursor(', with the same `order` and filters'),
    order: Type.Optional(oneOf(['desc', 'asc'], { default: 'desc', description: 'Newest first by default.' })),
    action: Type.Optional(
      Type.String({
        maxLength: 90,
        pattern: patterns.eventPattern,
        description: 'Only this action, or a family such as `api_key.*`.',
        examples: ['api_key.*'],
      }),
    ),
    actor_type: Type.Optional(oneOf(actorTypes, { description: 'Only what such actors did.' })),
    actor_id: ofObject('Only what this account or API key did.'),
    target_id: ofObject('Only what was done to this object, such as an agent.'),
  },
  { additionalProperties: false },
);
