import type { NewOAuthSession, OAuthSession, OAuthSessionKind, OAuthSessionStore } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';
import { inMs } from './leases.ts';

/** Of one agent and kind. */
const maxOpen = 10;

/** `OAuthSessionStore` in Postgres. */
export class PostgresOAuthSessionStore implements OAuthSessionStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  begin(session: NewOAuthSession, ttlMs: number): Promise<{ readonly expiresAt: Date }> {
    const { agentId, connection } = session;
    return this.database.transaction(async (trx) => {
      const row = await trx
        .insertInto('channel_oauth_sessions')
        .values({
          agent_id: agentId,
          connection,
          id: session.id,
          account_id: session.accountId,
          state_hash: session.stateHash,
          verifier_sealed: session.sealedVerifier,
          redirect_uri: session.redirectUri,
          return_url: session.returnUrl,
          expires_at: inMs(ttlMs),
        })
        .returning('expires_at')
        .executeTakeFirstOrThrow();
      await sql`
        delete from channel_oauth_sessions where expires_at <= clock_timestamp() or (agent_id = ${agentId} and id in (
          select id from channel_oauth_sessions
          where agent_id = ${agentId} and (connection is null) = ${connection === null}
          order by created_at desc, id offset ${maxOpen}
        ))
      `.execute(trx);
      return { expiresAt: row.expires_at };
    });
  }

  async take(stateHash: Uint8Array, kind: OAuthSessionKind): Promise<OAuthSession | null> {
    // Not repeated when the connection is lost: it may be gone by then.
    const row = await this.database.once((db) =>
      db
        .deleteFrom('channel_oauth_sessions')
        .where('state_hash', '=', stateHash)
        .where('connection', kind === 'mailbox' ? 'is' : 'is not', null)
        .returningAll()
        .returning(sql<boolean>`expires_at > clock_timestamp()`.as('lives'))
        .executeTakeFirst(),
    );
    if (!row?.lives) return null;
    return {
      id: row.id,
      accountId: row.account_id,
      agentId: row.agent_id,
      connection: row.connection,
      stateHash: row.state_hash,
      sealedVerifier: row.verifier_sealed,
      redirectUri: row.redirect_uri,
      returnUrl: row.return_url,
      expiresAt: row.expires_at,
    };
  }
}
