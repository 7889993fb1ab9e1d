import { AuditEvent, AuditEventList, ListAuditEventsQuery } from '@lodge/contract';
import { InvalidCursorError } from '@lodge/ports';
import type { AuditEvent as AuditEventRow, EventStore } from '@lodge/ports';
import type { Static } from 'typebox';
import type { App } from '../../app-types.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { pageReply } from '../../reply/page.ts';
import { toWire } from '../../reply/to-wire.ts';

const schema = {
  operationId: 'listAuditEvents',
  tags: ['Audit'],
  summary: 'List audit events',
  description: "Who did what to which of the account's things, and from where.",
  querystring: ListAuditEventsQuery,
  response: { 200: { ...AuditEventList, 'x-response-description': 'A page of events.' } },
};

interface Needs {
  readonly events: Pick<EventStore, 'audit'>;
  readonly cursors: Cursors;
}

export function listAuditEventsRoute(app: App, { events, cursors }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/audit-events',
    schema,
    config: { scopes: ['agents:read'] },
    handler: async (request) => {
      const { limit = 20, order = 'desc', cursor } = request.query;
      const { accountId } = request.principal;
      const from = cursor === undefined ? {} : { from: positionOf(cursors.open('audit', accountId, cursor), order) };
      const filters = filtersOf(request.query);
      const rows = await events.audit({ accountId, limit: limit + 1, direction: order, ...filters, ...from });
      const sealed = ({ id }: AuditEventRow): string | null => cursors.seal('audit', accountId, cursorOf(id, order));
      return pageReply(rows, { limit, record: eventRecord, cursorOf: sealed });
    },
  });
}

type Filters = Pick<Static<typeof ListAuditEventsQuery>, 'action' | 'actor_type' | 'actor_id' | 'target_id'>;

const filtersOf = ({ action, actor_type: actorKind, actor_id: actorId, target_id: targetId }: Filters) => ({
  ...(action !== undefined && { action }),
  ...(actorKind !== undefined && { actorKind }),
  ...(actorId !== undefined && { actorId }),
  ...(targetId !== undefined && { targetId }),
});

const largestId = 2n ** 63n - 1n;

function cursorOf(id: bigint, order: string): string {
  return Buffer.from(`${order}.${id}`).toString('base64url');
}

/** Throws `InvalidCursorError` for a text that `cursorOf` did not make. An id of another account's event reveals nothing. */
function positionOf(cursor: string, order: string): bigint {
  const [, given, digits] = /^(asc|desc)\.(\d{1,19})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const id = BigInt(digits ?? -1);
  if (given !== order || id < 0n || id > largestId || cursorOf(id, order) !== cursor) throw new InvalidCursorError();
  return id;
}

const eventRecord = ({ id, at: createdAt, actor, target, ...event }: AuditEventRow): AuditEvent =>
  toWire(AuditEvent, {
    ...event,
    id: String(id),
    createdAt,
    actor: { type: actor.kind, id: actor.id },
    target: target && { type: target.kind, id: target.id },
  });
