import type { ConnectionGrants, GrantRef, NewGrant } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Transaction } from 'kysely';
import { inMs } from '../work/leases.ts';
import type { Database } from '../database/connection.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvent } from '../events/append.ts';
import { noGrant } from './oauth.ts';

/** `ConnectionGrants` in Postgres. A version names a grant, and each write names the version that its writer read. */
export class PostgresConnectionGrants implements ConnectionGrants {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  connect(to: Parameters<ConnectionGrants['connect']>[0], grant: NewGrant): Promise<boolean> {
    const { agentId, connection, url, clientId, issuer } = to;
    return this.database.transaction(async (trx) => {
      const row = await trx
        .updateTable('connection_oauth')
        .from('connections as c')
        .set({ ...fieldsOf(grant), client_issuer: clientId === null ? null : issuer })
        .where('connection_oauth.agent_id', '=', agentId)
        .where('connection_oauth.connection', '=', connection)
        .whereRef('c.agent_id', '=', 'connection_oauth.agent_id')
        .whereRef('c.name', '=', 'connection_oauth.connection')
        .where('c.url', '=', url)
        .where(sql<boolean>`connection_oauth.client_id is not distinct from ${clientId}`)
        .returning('c.account_id')
        .executeTakeFirst();
      if (row === undefined) return false;
      const event = { type: 'connection.connected', data: { connection } } as const;
      await appendEvent(trx, { ...event, accountId: row.account_id, agentId, by: null });
      return true;
    });
  }

  claim(of: GrantRef, forMs: number): Promise<'yours' | 'busy' | 'later' | 'moved'> {
    return this.database.transaction(async (trx) => {
      const { rows } = await sql<{ held: boolean; waits: boolean }>`
        select coalesce(claimed_until > clock_timestamp(), false) as held, coalesce(retry_at > clock_timestamp(), false) as waits
        from connection_oauth where ${isIt(of)} and grant_sealed is not null for update
      `.execute(trx);
      const [row] = rows;
      if (row === undefined) return 'moved';
      if (row.held) return 'busy';
      if (row.waits) return 'later';
      await sql`update connection_oauth set claimed_until = ${inMs(forMs)}, retry_at = null where ${isIt(of)}`.execute(
        trx,
      );
      return 'yours';
    });
  }

  keep(of: GrantRef, grant: NewGrant): Promise<boolean> {
    // Repeated after a lost connection, it may find its own write. Nothing is lost then.
    return this.database.repeatable(async (db) => {
      const { numUpdatedRows } = await db
        .updateTable('connection_oauth')
        .set(fieldsOf(grant))
        .where(isIt(of))
        .where('grant_sealed', 'is not', null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    });
  }

  async fail(of: GrantRef, reason: string, retryMs: number): Promise<void> {
    await this.database.repeatable((db) =>
      db
        .updateTable('connection_oauth')
        .set({ status: 'failed', reason, claimed_until: null, retry_at: inMs(retryMs) })
        .where(isIt(of))
        .where('grant_sealed', 'is not', null)
        .execute(),
    );
  }

  lose(of: GrantRef, reason: string): Promise<void> {
    return this.database.transaction(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('connection_oauth')
        .set({ ...noGrant, status: 'needed', reason })
        .where(isIt(of))
        .executeTakeFirst();
      if (numUpdatedRows > 0n) await tellNeeded(trx, of, reason);
    });
  }

  async asked({ agentId, connection, revision }: Parameters<ConnectionGrants['asked']>[0]): Promise<void> {
    await this.database.repeatable((db) =>
      sql`
        update connections c set asks_oauth = true
        where agent_id = ${agentId} and name = ${connection} and revision = ${revision} and not asks_oauth
          and not exists (select from connection_oauth o where o.agent_id = c.agent_id and o.connection = c.name)
      `.execute(db),
    );
  }
}

const isIt = ({ agentId, connection, version }: GrantRef): RawBuilder<boolean> =>
  sql<boolean>`connection_oauth.agent_id = ${agentId} and connection_oauth.connection = ${connection} and connection_oauth.version = ${version}`;

const fieldsOf = ({ sealed, scope, expiresInMs, renewInMs }: NewGrant) => ({
  ...noGrant,
  status: 'connected' as const,
  reason: null,
  grant_sealed: sealed,
  granted_scope: scope,
  granted_at: sql<Date>`clock_timestamp()`,
  expires_at: expiresInMs === null ? null : inMs(expiresInMs),
  renew_at: renewInMs === null ? null : inMs(renewInMs),
});

async function tellNeeded(trx: Transaction<Schema>, { agentId, connection }: GrantRef, message: string): Promise<void> {
  const { account_id: accountId } = await trx
    .selectFrom('connections')
    .select('account_id')
    .where('agent_id', '=', agentId)
    .where('name', '=', connection)
    .executeTakeFirstOrThrow();
  const event = { type: 'connection.consent_needed', data: { connection, message } } as const;
  await appendEvent(trx, { ...event, accountId, agentId, by: null });
}
