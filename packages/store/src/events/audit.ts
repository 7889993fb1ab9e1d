import type { AuditEvent, AuditLog, AuditQuery, EventRow } from '@lodge/ports';
import type { Database } from '../database/connection.ts';
import { toEventRow } from './rows.ts';

/** `AuditLog` in Postgres: the events that somebody caused. */
export class PostgresAuditLog implements AuditLog {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async page({ accountId, limit, from, direction }: AuditQuery): Promise<readonly AuditEvent[]> {
    const rows = await this.database.repeatable((db) =>
      db
        .selectFrom('events')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('actor_kind', 'is not', null)
        .$if(from !== undefined, (query) => query.where('id', direction === 'asc' ? '>' : '<', String(from)))
        .orderBy('id', direction)
        .limit(limit)
        .execute(),
    );
    return rows.map((row) => toAuditEvent(toEventRow(row)));
  }
}

function toAuditEvent({ id, accountId, agentId, type, data, by, target, at }: EventRow): AuditEvent {
  const agent = agentId === null ? null : { kind: 'agent', id: agentId };
  return { ...by!, id, accountId, action: type, target: target ?? agent, at, details: data };
}
