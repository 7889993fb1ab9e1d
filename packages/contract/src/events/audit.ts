import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Timestamp, listOf, nullable, oneOf, pageCursor } from '../text.ts';

/** An object of an event, by its kind and id. */
const who = { type: Type.String({ examples: ['api_key'] }), id: Type.String() };

export const AuditEvent = Type.Object(
  {
    object: Type.Literal('audit_event'),
    id: Type.String({ description: 'Rises with time, within one account.', examples: ['48213'] }),
    created_at: Timestamp,
    actor: Type.Object(
      {
        type: oneOf(['account', 'api_key', 'operator'], {
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
    cursor: pageCursor(', with the same `order`'),
    order: Type.Optional(oneOf(['desc', 'asc'], { default: 'desc', description: 'Newest first by default.' })),
  },
  { additionalProperties: false },
);
