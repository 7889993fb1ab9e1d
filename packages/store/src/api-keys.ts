import type { ApiKeyChanges, ApiKeyRow, ApiKeyStore, NewApiKey } from '@lodge/engine/ports';
import { sql } from 'kysely';
import type { Kysely, Selectable } from 'kysely';
import type { Changes } from './changes.ts';
import type { Database } from './connection.ts';
import type { Schema } from './schema.ts';

/** Key of the advisory lock that the making of the first account holds. */
const firstAccountLockKey = 7_303;

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
    return this.database.once((db) => insertKey(db, accountId, key));
  }

  async recordUse(uses: ReadonlyMap<string, Date>): Promise<void> {
    if (uses.size === 0) return;
    // Locked in one order, so that two processes which write the same keys at once do not block each other for ever.
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
        await sql`select pg_advisory_xact_lock(${firstAccountLockKey})`.execute(trx);
        if (await trx.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) return null;
        const account = trx.insertInto('accounts').values({ name, role: 'owner' }).returning('id');
        const { id } = await account.executeTakeFirstOrThrow();
        return insertKey(trx, id, key);
      }),
    );
  }
}

async function insertKey(db: Kysely<Schema>, accountId: string, key: NewApiKey): Promise<ApiKeyRow> {
  const { name, hash, last4, scopes, expiresAt } = key;
  const row = await db
    .insertInto('api_keys')
    .values({ account_id: accountId, name, hash, last4, scopes, expires_at: expiresAt })
    .returning(columns)
    .executeTakeFirstOrThrow();
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
