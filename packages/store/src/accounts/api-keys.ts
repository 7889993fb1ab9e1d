import type { ApiKeyChanges, ApiKeyRow, ApiKeyStore, NewApiKey } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, Selectable } from 'kysely';
import type { Changes } from '../database/notifications.ts';
import type { Database } from '../database/connection.ts';
import type { Schema } from '../database/schema.ts';
import { advisoryLocks } from '../database/locks.ts';
import { appendEvent } from '../events/append.ts';
import { insertKey } from './account-keys.ts';

const columns = ['id', 'account_id', 'scopes', 'expires_at', 'revoked_at'] as const;

/** `ApiKeyStore` in Postgres. */
export class PostgresApiKeyStore implements ApiKeyStore, ApiKeyChanges {
  private readonly database: Database;
  private readonly changes: Changes;

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  onChange(listener: (keyId: string | null) => void): () => void {
    return this.changes.on('api_key_changed', listener);
  }

  async findByHash(hash: Uint8Array): Promise<ApiKeyRow | null> {
    const row = await this.database.repeatable((db) =>
      db.selectFrom('api_keys').select(columns).where('hash', '=', hash).executeTakeFirst(),
    );
    return row ? toApiKeyRow(row) : null;
  }

  insert(accountId: string, key: NewApiKey): Promise<ApiKeyRow> {
    return this.database.once((db) => db.transaction().execute((trx) => insertOwnKey(trx, accountId, key)));
  }

  async recordUse(uses: ReadonlyMap<string, Date>): Promise<void> {
    if (uses.size === 0) return;
    // Rows are locked in one order, so two processes that write the same keys at once do not deadlock.
    await this.database.repeatable((db) =>
      sql`
        with used as (
          select k.id, u.at
          from api_keys k join unnest(${[...uses.keys()]}::text[], ${[...uses.values()]}::timestamptz[]) u (id, at) using (id)
          order by k.id
          for no key update of k
        )
        update api_keys k set last_used_at = greatest(k.last_used_at, used.at) from used where k.id = used.id
      `.execute(db),
    );
  }

  createFirstAccount(name: string, key: NewApiKey): Promise<ApiKeyRow | null> {
    return this.database.once((db) =>
      db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(${advisoryLocks.firstAccount})`.execute(trx);
        if (await trx.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) return null;
        const account = trx.insertInto('accounts').values({ name, role: 'owner' }).returning('id');
        const { id } = await account.executeTakeFirstOrThrow();
        const target = { kind: 'account', id };
        await appendEvent(trx, { type: 'account.created', data: {}, accountId: id, agentId: null, by: null, target });
        return insertOwnKey(trx, id, key);
      }),
    );
  }
}

/** Inserts a key that Lodge makes by itself, with its event. */
async function insertOwnKey(trx: Kysely<Schema>, accountId: string, key: NewApiKey): Promise<ApiKeyRow> {
  const { name, last4, scopes, expiresAt } = key;
  const row = await insertKey(trx, accountId, key);
  const data = { name, last4, scopes, expires_at: expiresAt?.toISOString() ?? null };
  const target = { kind: 'api_key', id: row.id };
  await appendEvent(trx, { type: 'api_key.created', data, accountId, agentId: null, by: null, target });
  return toApiKeyRow(row);
}

function toApiKeyRow(row: Pick<Selectable<Schema['api_keys']>, (typeof columns)[number]>): ApiKeyRow {
  return {
    id: row.id,
    accountId: row.account_id,
    scopes: row.scopes,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}
