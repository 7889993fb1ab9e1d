/** OAuth of connections, as their owners put it. */
import type { ConnectionOAuth, GrantRef } from '@lodge/ports';
import { sql } from 'kysely';
import type { Insertable, RawBuilder, Selectable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { ConnectionOauth } from '../database/tables.ts';

/** OAuth of a row `c` of connections. */
export const oauthColumn: RawBuilder<ConnectionOAuth | null> = sql`(
  select json_build_object(
    'clientId', client_id, 'clientIssuer', client_issuer, 'scope', scope, 'status', status, 'reason', reason,
    'version', version,
    'endpoints', case when token_url is not null then json_build_object(
      'authorizationUrl', authorization_url, 'tokenUrl', token_url, 'clientAuth', client_auth
    ) end,
    'clientSecret', case when client_secret_sealed is not null then
      json_build_object('sealed', client_secret_sealed, 'last4', client_secret_last4)
    end,
    'grant', case when grant_sealed is not null then json_build_object(
      'sealed', grant_sealed, 'scope', granted_scope, 'expiresAt', expires_at,
      'isDue', coalesce(renew_at <= clock_timestamp(), false), 'isOver', coalesce(expires_at <= clock_timestamp(), false),
      'ageMs', coalesce(extract(epoch from clock_timestamp() - granted_at) * 1000, 0)
    ) end
  )
  from connection_oauth where agent_id = c.agent_id and connection = c.name
)`;

/** A change that takes the grant away, with all that belongs to it. */
export const noGrant = {
  version: sql<string>`gen_random_uuid()::text`,
  grantSealed: null,
  grantedScope: null,
  grantedAt: null,
  expiresAt: null,
  renewAt: null,
  claimedUntil: null,
  retryAt: null,
} as const;

type Ref = Pick<GrantRef, 'agentId' | 'connection'>;

/** Locks the OAuth of a connection until the transaction ends. */
export const lockOAuth = (
  trx: Transaction,
  { agentId, connection }: Ref,
): Promise<Selectable<ConnectionOauth> | undefined> =>
  trx
    .selectFrom('connectionOauth')
    .selectAll()
    .where('agentId', '=', agentId)
    .where('connection', '=', connection)
    .forUpdate()
    .executeTakeFirst();

export async function deleteOAuth(trx: Transaction, { agentId, connection }: Ref): Promise<void> {
  await trx.deleteFrom('connectionOauth').where('agentId', '=', agentId).where('connection', '=', connection).execute();
}

type OwnOAuth = Pick<
  Insertable<ConnectionOauth>,
  | 'clientId'
  | 'clientSecretSealed'
  | 'clientSecretLast4'
  | 'clientIssuer'
  | 'scope'
  | 'authorizationUrl'
  | 'tokenUrl'
  | 'clientAuth'
>;

export async function upsertOAuth(
  trx: Transaction,
  { agentId, connection }: Ref,
  { clientId, clientSecretSealed, clientSecretLast4, clientIssuer, scope, ...places }: OwnOAuth,
  { keepsGrant }: { readonly keepsGrant: boolean },
): Promise<void> {
  const { authorizationUrl, tokenUrl, clientAuth } = places;
  const endpoints = { authorizationUrl, tokenUrl, clientAuth };
  const own = { clientId, clientSecretSealed, clientSecretLast4, clientIssuer, scope, ...endpoints };
  await trx
    .insertInto('connectionOauth')
    .values({ agentId, connection, ...own })
    .onConflict((conflict) =>
      conflict
        .columns(['agentId', 'connection'])
        .doUpdateSet({ ...own, ...(!keepsGrant && { ...noGrant, status: 'needed', reason: null }) }),
    )
    .execute();
}
