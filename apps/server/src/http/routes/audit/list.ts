import { AuditEventList, ListAuditEventsQuery } from '@lodge/contract';
import type { AuditEvent } from '@lodge/contract';
import { InvalidCursorError } from '@lodge/engine/ports';
import type { AuditEvent as AuditEventRow } from '@lodge/engine/ports';
import type { App, HttpContext } from '../../context.ts';

const schema = {
  operationId: 'listAuditEvents',
  tags: ['Audit'],
  summary: 'List audit events',
  description: "Who did what to which of the account's things, and from where.",
  querystring: ListAuditEventsQuery,
  response: { 200: { ...AuditEventList, 'x-response-description': 'A page of events.' } },
};

export function listAuditEventsRoute(app: App, { audit, cursors }: HttpContext): void {
  app.route({
    method: 'GET',
    url: '/v1/audit-events',
    schema,
    config: { scopes: ['agents:read'] },
    handler: async (request) => {
      const { limit = 20, order = 'desc', cursor } = request.query;
      const { accountId } = request.principal;
      const from = cursor === undefined ? {} : { from: positionOf(cursors.open('audit', accountId, cursor), order) };
      // One more than asked for tells whether there is more.
      const rows = await audit.page({ accountId, limit: limit + 1, direction: order, ...from });
      const page = rows.slice(0, limit);
      const hasMore = rows.length > limit;
      return {
        object: 'list' as const,
        data: page.map(eventRecord),
        has_more: hasMore,
        next_cursor: hasMore ? cursors.seal('audit', accountId, cursorOf(page.at(-1)!.id, order)) : null,
      };
    },
  });
}

const largestId = 2n ** 63n - 1n;

function cursorOf(id: bigint, order: string): string {
  return Buffer.from(`${order}.${id}`).toString('base64url');
}

/** Throws `InvalidCursorError` for anything `cursorOf` would not have written. Ids of another account's events lead nowhere else. */
function positionOf(cursor: string, order: string): bigint {
  const [, given, digits] = /^(asc|desc)\.(\d{1,19})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const id = BigInt(digits ?? -1);
  if (given !== order || id < 0n || id > largestId || cursorOf(id, order) !== cursor) throw new InvalidCursorError();
  return id;
}

function eventRecord({ id, at, actor, action, target, address, requestId, details }: AuditEventRow): AuditEvent {
  return {
    object: 'audit_event',
    id: String(id),
    created_at: at.toISOString(),
    actor: { type: actor.kind, id: actor.id },
    action,
    target: target && { type: target.kind, id: target.id },
    address,
    request_id: requestId,
    details: { ...details },
  };
}
