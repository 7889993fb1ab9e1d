/** Grants of connections. A version names a grant, and each write names the version that its writer read. */
import type { OAuthEndpoints } from '@lodge/domain';
import type { GrantRef, NewGrant } from '@lodge/ports';
import { sql } from 'kysely';
import type { ExpressionBuilder } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { DB } from '../database/tables.ts';
import { inMs } from '../work/leases.ts';
import { noGrant } from './oauth.ts';

const is =
  ({ agentId, connection, version }: GrantRef) =>
  (eb: ExpressionBuilder<DB, 'connectionOauth'>) =>
    eb.and({
      'connectionOauth.agentId': agentId,
      'connectionOauth.connection': connection,
      'connectionOauth.version': version,
    });

const columnsOf = ({ sealed, scope, expiresInMs, renewInMs }: NewGrant) => ({
  ...noGrant,
  status: 'connected' as const,
  reason: null,
  grantSealed: sealed,
  grantedScope: scope,
  grantedAt: sql<Date>`clock_timestamp()`,
  expiresAt: expiresInMs === null ? null : inMs(expiresInMs),
  renewAt: renewInMs === null ? null : inMs(renewInMs),
});

export interface Consented {
  readonly agentId: string;
  readonly connection: string;
  readonly url: string;
  readonly hosts: readonly string[];
  readonly clientId: string | null;
  readonly issuer: string;
  readonly endpoints: OAuthEndpoints | null;
}

/** Stores the grant of a consent. False when the connection is gone, leads elsewhere, or has another client or other endpoints by now. */
export async function insertGrant(trx: Transaction, to: Consented, grant: NewGrant): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('connectionOauth as o')
    .from('connections as c')
    .set({ ...columnsOf(grant), clientIssuer: to.clientId === null ? null : to.issuer })
    .where('o.agentId', '=', to.agentId)
    .where('o.connection', '=', to.connection)
    .whereRef('c.agentId', '=', 'o.agentId')
    .whereRef('c.name', '=', 'o.connection')
    .where('c.url', '=', to.url)
    .where('c.hosts', '=', sql<never>`${JSON.stringify(to.hosts)}::jsonb`)
    .where('o.clientId', 'is not distinct from', to.clientId)
    .where('o.authorizationUrl', 'is not distinct from', to.endpoints?.authorizationUrl ?? null)
    .where('o.tokenUrl', 'is not distinct from', to.endpoints?.tokenUrl ?? null)
    .where('o.clientAuth', 'is not distinct from', to.endpoints?.clientAuth ?? null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export interface LockedGrant {
  readonly isClaimed: boolean;
  /** Whether nobody should try to renew it for now. */
  readonly waits: boolean;
}

/** Locks the grant until the transaction ends. */
export const lockGrant = (trx: Transaction, of: GrantRef): Promise<LockedGrant | undefined> =>
  trx
    .selectFrom('connectionOauth')
    .select([
      sql<boolean>`coalesce(claimed_until > clock_timestamp(), false)`.as('isClaimed'),
      sql<boolean>`coalesce(retry_at > clock_timestamp(), false)`.as('waits'),
    ])
    .where(is(of))
    .where('grantSealed', 'is not', null)
    .forUpdate()
    .executeTakeFirst();

export async function claimGrant(trx: Transaction, of: GrantRef, forMs: number): Promise<void> {
  await trx
    .updateTable('connectionOauth')
    .set({ claimedUntil: inMs(forMs), retryAt: null })
    .where(is(of))
    .execute();
}

export async function replaceGrant(db: Queries, of: GrantRef, grant: NewGrant): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('connectionOauth')
    .set(columnsOf(grant))
    .where(is(of))
    .where('grantSealed', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Records a failed renewal and ends its claim. */
export async function markGrantFailed(db: Queries, of: GrantRef, reason: string, retryMs: number): Promise<void> {
  await db
    .updateTable('connectionOauth')
    .set({ status: 'failed', reason, claimedUntil: null, retryAt: inMs(retryMs) })
    .where(is(of))
    .where('grantSealed', 'is not', null)
    .execute();
}

/** Takes the grant away, and returns the connection's account. */
export async function deleteGrant(trx: Transaction, of: GrantRef, reason: string): Promise<string | undefined> {
  const gone = await trx
    .updateTable('connectionOauth')
    .from('connections as c')
    .set({ ...noGrant, status: 'needed', reason })
    .where(is(of))
    .whereRef('c.agentId', '=', 'connectionOauth.agentId')
    .whereRef('c.name', '=', 'connectionOauth.connection')
    .returning('c.accountId')
    .executeTakeFirst();
  return gone?.accountId;
}
