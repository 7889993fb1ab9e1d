import type { NewOAuthSession, OAuthSession, OAuthSessionKind, OAuthSessionStore } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Database } from '../database/connection.ts';
import { inMs } from '../work/leases.ts';
import type { OAuthSessionsTable } from './tables.ts';

/** Most sessions of one agent and kind. */
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
          page_hash: session.pageHash,
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

  find(pageHash: Uint8Array): Promise<OAuthSession | null> {
    return this.database.repeatable(async (db) => {
      const row = await db
        .selectFrom('channel_oauth_sessions')
        .selectAll()
        .where('page_hash', '=', pageHash)
        .where(lives)
        .executeTakeFirst();
      return row === undefined ? null : toSession(row);
    });
  }

  agree(pageHash: Uint8Array, browserHash: Uint8Array): Promise<OAuthSession | null> {
    return this.database.repeatable(async (db) => {
      const row = await db
        .updateTable('channel_oauth_sessions')
        .set({ browser_hash: browserHash })
        .where('page_hash', '=', pageHash)
        .where(isFreeFor(browserHash))
        .where(lives)
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? null : toSession(row);
    });
  }

  async refuse(pageHash: Uint8Array, browserHash: Uint8Array): Promise<void> {
    await this.database.repeatable((db) =>
      db.deleteFrom('channel_oauth_sessions').where('page_hash', '=', pageHash).where(isFreeFor(browserHash)).execute(),
    );
  }

  async take(stateHash: Uint8Array, kind: OAuthSessionKind, browserHash: Uint8Array): Promise<OAuthSession | null> {
    // It is not repeated after a lost connection, because the session may be gone by then.
    const row = await this.database.once((db) =>
      db
        .deleteFrom('channel_oauth_sessions')
        .where('state_hash', '=', stateHash)
        .where('browser_hash', '=', browserHash)
        .where('connection', kind === 'mailbox' ? 'is' : 'is not', null)
        .returningAll()
        .returning(lives.as('lives'))
        .executeTakeFirst(),
    );
    return row?.lives ? toSession(row) : null;
  }
}

const lives = sql<boolean>`expires_at > clock_timestamp()`;
const isFreeFor = (browserHash: Uint8Array) => sql<boolean>`(browser_hash is null or browser_hash = ${browserHash})`;

const toSession = (row: Selectable<OAuthSessionsTable>): OAuthSession => ({
  id: row.id,
  accountId: row.account_id,
  agentId: row.agent_id,
  connection: row.connection,
  stateHash: row.state_hash,
  pageHash: row.page_hash,
  browserHash: row.browser_hash,
  sealedVerifier: row.verifier_sealed,
  redirectUri: row.redirect_uri,
  returnUrl: row.return_url,
  expiresAt: row.expires_at,
});
