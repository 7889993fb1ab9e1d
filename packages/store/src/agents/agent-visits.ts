import type { AgentPage, AgentVisitStore, ChangeNote, NewAgentLink, Visit } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { writeNote } from '../events/change-note.ts';
import type { Database } from '../database/connection.ts';
import type { Queries, Transaction } from '../database/database.ts';
import { sessionInForce } from '../accounts/sessions.ts';
import type { Schema } from '../database/schema.ts';

const maxPerAgent = 500;

/**
 * A condition: the link or visit is not over, its key or session is in force, and its agent is not being deleted. An ended
 * session removed its rows.
 */
const inForce = sql<boolean>`(
  agent_visits.expires_at > now()
  and (
    exists (
      select from api_keys k where k.id = agent_visits.key_id and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > now())
    )
    or exists (select from sessions where sessions.id = agent_visits.session_id and ${sessionInForce})
  )
  and exists (select from agents a where a.id = agent_visits.agent_id and a.desired = 'running')
)`;

/** `AgentVisitStore` in Postgres. */
export class PostgresAgentVisitStore implements AgentVisitStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  createLink(link: NewAgentLink, hash: Uint8Array, note?: ChangeNote): Promise<Date | null> {
    const { accountId, by, agentId, port, path, linkSeconds, visitSeconds } = link;
    const [keyId, sessionId] = by.kind === 'api_key' ? [by.id, null] : [null, by.id];
    return this.database.transaction(async (trx) => {
      const { rows } = await sql<{ expires_at: Date }>`
        insert into agent_visits (account_id, key_id, session_id, agent_id, port, path, visit_seconds, hash, expires_at)
        select ${accountId}, ${keyId}, ${sessionId}, id, ${port}, ${path}, ${visitSeconds}, ${hash},
          now() + ${linkSeconds} * interval '1 second'
        from agents where id = ${agentId} and account_id = ${accountId} and desired = 'running'
        returning expires_at
      `.execute(trx);
      if (rows[0] === undefined) return null;
      await sql`
        delete from agent_visits where id in (
          select id from agent_visits where agent_id = ${agentId} order by created_at desc, id offset ${maxPerAgent}
        )
      `.execute(trx);
      const own = { type: 'agent.link_created', data: { page: 'gateway' } } as const;
      await writeNote(trx, { accountId, agentId }, own, note);
      return rows[0].expires_at;
    });
  }

  /** Opens a link. It is not repeated after a lost connection, because the first attempt may have used the link up. */
  async openLink(
    { agentId, port }: AgentPage,
    linkHash: Uint8Array,
    visitHash: Uint8Array,
  ): Promise<{ readonly visit: Visit; readonly path: string } | null> {
    const row = await this.database.once((db) =>
      db
        .updateTable('agent_visits')
        .set({
          hash: visitHash,
          opened_at: sql<Date>`now()`,
          expires_at: sql<Date>`now() + visit_seconds * interval '1 second'`,
        })
        .where('hash', '=', linkHash)
        .where('opened_at', 'is', null)
        .where('agent_id', '=', agentId)
        .where('port', 'is not distinct from', port)
        .where(inForce)
        .returningAll()
        .executeTakeFirst(),
    );
    return row ? { visit: toVisit(row), path: row.path } : null;
  }

  async visit({ agentId, port }: AgentPage, hash: Uint8Array): Promise<Visit | null> {
    const row = await this.database.repeatable((db) =>
      db
        .selectFrom('agent_visits')
        .selectAll()
        .where('hash', '=', hash)
        .where('opened_at', 'is not', null)
        .where('agent_id', '=', agentId)
        .where('port', 'is not distinct from', port)
        .where(inForce)
        .executeTakeFirst(),
    );
    return row ? toVisit(row) : null;
  }
}

/** Ends all links and visits of an account. */
export async function endVisits(trx: Transaction, accountId: string): Promise<void> {
  await trx.deleteFrom('agentVisits').where('accountId', '=', accountId).execute();
}

export async function pruneVisits(db: Queries, limit: number): Promise<void> {
  await sql`
    delete from agent_visits where id in (
      select id from agent_visits where expires_at < now() limit ${limit} for update skip locked
    )
  `.execute(db);
}

function toVisit(row: Selectable<Schema['agent_visits']>): Visit {
  return {
    id: row.id,
    accountId: row.account_id,
    agentId: row.agent_id,
    port: row.port,
    expiresAt: row.expires_at,
  };
}
