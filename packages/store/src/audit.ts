import type { AuditDetail, AuditEvent, AuditLog, AuditQuery, NewAuditEvent } from '@lodge/engine/ports';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';
import type { Database } from './connection.ts';

/** Class of the advisory locks that writers of one account's events hold until they commit. */
const auditLockClass = 7_304;

/**
 * Writes an event in the transaction of the change it tells of: call it last. Writers of one account's events wait for one
 * another, so that ids rise in the order of commits and a reader who pages forward misses none.
 */
export async function writeAudit(trx: Kysely<Schema>, event: NewAuditEvent): Promise<void> {
  await sql`select pg_advisory_xact_lock(${auditLockClass}, hashtext(${event.accountId}))`.execute(trx);
  await trx
    .insertInto('audit_events')
    .values({
      account_id: event.accountId,
      actor_kind: event.actor.kind,
      actor_id: event.actor.id,
      action: event.action,
      target_kind: event.target?.kind ?? null,
      target_id: event.target?.id ?? null,
      address: event.address,
      request_id: event.requestId,
      at: sql<Date>`clock_timestamp()`,
      details: JSON.stringify(event.details),
    })
    .execute();
}

/** `AuditLog` in Postgres. */
export class PostgresAuditLog implements AuditLog {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async page({ accountId, limit, from, direction }: AuditQuery): Promise<readonly AuditEvent[]> {
    const rows = await this.database.repeatable((db) =>
      db
        .selectFrom('audit_events')
        .selectAll()
        .where('account_id', '=', accountId)
        .$if(from !== undefined, (query) => query.where('id', direction === 'asc' ? '>' : '<', String(from)))
        .orderBy('id', direction)
        .limit(limit)
        .execute(),
    );
    return rows.map((row) => ({
      id: BigInt(row.id),
      accountId: row.account_id,
      actor: { kind: row.actor_kind, id: row.actor_id },
      action: row.action as AuditEvent['action'],
      target: row.target_id === null ? null : { kind: row.target_kind!, id: row.target_id },
      address: row.address,
      requestId: row.request_id,
      at: row.at,
      details: row.details as Record<string, AuditDetail>,
    }));
  }
}
