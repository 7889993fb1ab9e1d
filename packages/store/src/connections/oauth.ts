/** OAuth of a connection: as its owner put it, and as a row has it. */
import type { ConnectionOAuthStatus } from '@lodge/domain';
import type { ConnectionChange, ConnectionOAuth } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';

/** The row as JSON, with times as texts. */
export interface FoundOAuth {
  readonly client_id: string | null;
  readonly client_secret_sealed: string | null;
  readonly client_secret_last4: string;
  readonly client_issuer: string | null;
  readonly scope: string | null;
  readonly status: ConnectionOAuthStatus;
  readonly reason: string | null;
  readonly version: string;
  readonly grant_sealed: string | null;
  readonly granted_scope: string | null;
  readonly expires_at: string | null;
  readonly is_due: boolean;
  readonly is_over: boolean;
  readonly age_ms: number;
}

/** A column for a row `c` of connections. */
export const oauthColumn: RawBuilder<FoundOAuth | null> = sql`(
  select to_jsonb(o) || jsonb_build_object(
    'is_due', coalesce(o.renew_at <= clock_timestamp(), false),
    'is_over', coalesce(o.expires_at <= clock_timestamp(), false),
    'age_ms', coalesce(extract(epoch from clock_timestamp() - o.granted_at) * 1000, 0)
  )
  from connection_oauth o where o.agent_id = c.agent_id and o.connection = c.name
)`;

export function oauthOf(row: FoundOAuth | null): ConnectionOAuth | null {
  if (row === null) return null;
  const { client_secret_sealed: secret, grant_sealed: grant } = row;
  return {
    clientId: row.client_id,
    clientSecret: secret === null ? null : { sealed: secret, last4: row.client_secret_last4 },
    clientIssuer: row.client_issuer,
    scope: row.scope,
    status: row.status,
    reason: row.reason,
    version: row.version,
    grant:
      grant === null
        ? null
        : {
            sealed: grant,
            scope: row.granted_scope,
            expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
            isDue: row.is_due,
            isOver: row.is_over,
            ageMs: row.age_ms,
          },
  };
}

export const noGrant = {
  version: sql<string>`gen_random_uuid()::text`,
  grant_sealed: null,
  granted_scope: null,
  granted_at: null,
  expires_at: null,
  renew_at: null,
  claimed_until: null,
  retry_at: null,
} as const;

/** Writes the owner's OAuth. The grant stays only while URL, client and scope stay the same. */
export async function putAuth(
  trx: Transaction<Schema>,
  { agentId, name, kind, auth }: ConnectionChange,
  { goesElsewhere }: { readonly goesElsewhere: boolean },
): Promise<void> {
  const own = trx
    .selectFrom('connection_oauth')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('connection', '=', name);
  const before = await own.forUpdate().executeTakeFirst();
  if (auth === null || kind !== 'mcp') {
    await trx.deleteFrom('connection_oauth').where('agent_id', '=', agentId).where('connection', '=', name).execute();
    return;
  }
  if (auth === undefined && before === undefined) return;
  const clientId = auth === undefined ? before!.client_id : auth.clientId;
  const scope = auth === undefined ? before!.scope : auth.scope;
  const isSameClient = before !== undefined && before.client_id === clientId && !goesElsewhere;
  const kept = isSameClient
    ? { sealed: before.client_secret_sealed, last4: before.client_secret_last4 }
    : { sealed: null, last4: '' };
  const secret = auth?.clientSecret === undefined ? kept : (auth.clientSecret ?? { sealed: null, last4: '' });
  const fields = {
    client_id: clientId,
    client_secret_sealed: secret.sealed,
    client_secret_last4: secret.last4,
    client_issuer: isSameClient && auth?.clientSecret === undefined ? before.client_issuer : null,
    scope,
  };
  const stays = isSameClient && before.scope === scope;
  await trx
    .insertInto('connection_oauth')
    .values({ agent_id: agentId, connection: name, ...fields })
    .onConflict((conflict) =>
      conflict
        .columns(['agent_id', 'connection'])
        .doUpdateSet({ ...fields, ...(!stays && { ...noGrant, status: 'needed', reason: null }) }),
    )
    .execute();
}
