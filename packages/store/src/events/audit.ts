import type { AuditEvent, AuditQuery, EventRow } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Queries } from '../database/database.ts';
import { toEventRow } from './page.ts';

/** Reads a page of the events that somebody caused. */
export async function auditPage(db: Queries, query: AuditQuery): Promise<readonly AuditEvent[]> {
  const { accountId, limit, from, direction } = query;
  const rows = await db
    .selectFrom('events')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('actorKind', 'is not', null)
    .where(filterOf(query))
    .$if(from !== undefined, (select) => select.where('id', direction === 'asc' ? '>' : '<', String(from)))
    .orderBy('id', direction)
    .limit(limit)
    .execute();
  return rows.map((row) => toAuditEvent(toEventRow(row)));
}

/** The filters of a query as one condition. */
function filterOf({ action = '*', actorKind, actorId, targetId }: AuditQuery): RawBuilder<boolean> {
  const ofType = action.endsWith('*') ? sql`starts_with(type, ${action.slice(0, -1)})` : sql`type = ${action}`;
  const conditions = [
    ...(action === '*' ? [] : [ofType]),
    ...(actorKind === undefined ? [] : [sql`actor_kind = ${actorKind}`]),
    ...(actorId === undefined ? [] : [sql`actor_id = ${actorId}`]),
    // The agent of an event is its object where it has no other.
    ...(targetId === undefined ? [] : [sql`coalesce(target_id, agent_id) = ${targetId}`]),
  ];
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

function toAuditEvent({ id, accountId, agentId, type, data, by, target, at }: EventRow): AuditEvent {
  const agent = agentId === null ? null : { kind: 'agent', id: agentId };
  return { ...by!, id, accountId, action: type, target: target ?? agent, at, details: data };
}
