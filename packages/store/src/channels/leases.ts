/**
 * Leases: one relay at a time holds a channel. A lease ends only by the database's clock, and its number rises with each
 * holder.
 *
 * A holder's writes name the number. They are refused in the same transaction once there is another number or the time is
 * over. The commit of a number waits for the disk, because a number that a crash forgot would be given out again.
 */
import { isUnverifiedAccount } from '@lodge/domain';
import { LeaseLost } from '@lodge/ports';
import type { Lease, LeaseRef, RelayStore } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Selectable, SqlBool } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { Channels } from '../database/tables.ts';
import { inMs, isHeldUnder, isUnheld, released, takenBy } from '../work/leases.ts';

/** A table of leases that the statements of one relay join with. */
export const leaseRows = (leases: readonly LeaseRef[]): RawBuilder<unknown> => sql`
  unnest(
    ${leases.map(({ agentId }) => agentId)}::text[],
    ${leases.map(({ channel }) => channel)}::text[],
    ${leases.map(({ number }) => number)}::integer[]
  ) l (agent_id, channel, number)
`;

/** A condition on a row `c` of channels. */
export const holds = ({ agentId, channel, number }: LeaseRef): RawBuilder<SqlBool> => sql<SqlBool>`
  c.agent_id = ${agentId} and c.channel = ${channel} and ${isHeldUnder('c', number)}
`;

/** A condition on a row `c` of channels and one of `leaseRows`. */
export const isHeld = sql<SqlBool>`
  c.agent_id = l.agent_id and c.channel = l.channel and ${isHeldUnder('c', sql.ref('l.number'))}
`;

type HeldRow = Pick<Selectable<Channels>, 'access' | 'accountId'>;

/** Locks the lease until the transaction ends. Throws `LeaseLost`. */
export async function lockHeld(trx: Transaction, lease: LeaseRef): Promise<void> {
  await lockWhere(trx, holds(lease));
}

/**
 * As `lockHeld`, and the channel was not put anew since. Messages of the earlier account are then not taken for the new
 * one's.
 */
export const lockCurrent = (trx: Transaction, lease: LeaseRef): Promise<HeldRow> =>
  lockWhere(trx, sql<SqlBool>`${holds(lease)} and c.revision = c.lease_revision`);

async function lockWhere(trx: Transaction, condition: RawBuilder<SqlBool>): Promise<HeldRow> {
  const { rows } = await sql<HeldRow>`
    select c.access, c.account_id from channels c where ${condition} and c.enabled for no key update
  `.execute(trx);
  const [row] = rows;
  if (row === undefined) throw new LeaseLost();
  return row;
}

type Taken = Omit<Lease, 'credentials' | 'isUnverified'> & Pick<Selectable<Channels>, 'accountKey'>;

export async function acquire(
  trx: Transaction,
  { relay, channels, limit, leaseMs }: Parameters<RelayStore['acquire']>[0],
): Promise<readonly Lease[]> {
  const { rows } = await sql<Taken>`
    with free as (
      select c.agent_id, c.channel from channels c
      where c.enabled and c.channel = any(${channels}::text[])
        and ${isUnheld('c')}
        and (c.not_before is null or c.not_before <= clock_timestamp())
        -- A person has to mend these; whoever does so changes their state.
        and c.status <> 'error' and c.status_code is distinct from 'logged_out'
        and exists (select from agents a where a.id = c.agent_id and a.desired = 'running')
      order by c.updated_at, c.agent_id
      limit ${limit}
      for no key update skip locked
    )
    update channels c set ${takenBy('c', relay, leaseMs)}, lease_revision = c.revision
    from free where c.agent_id = free.agent_id and c.channel = free.channel
    returning c.agent_id, c.account_id, c.channel, c.lease_number as number, c.revision, c.access, c.cursor,
      c.account_key
  `.execute(trx);
  if (rows.length === 0) return [];
  // A separate statement sees everything that was committed before the rows were locked, and nobody changes it meanwhile.
  const sealed = await trx
    .selectFrom('channelCredentials')
    .select(['agentId', 'channel', 'name', 'sealed'])
    .where('agentId', '=', sql<string>`any(${rows.map(({ agentId }) => agentId)}::text[])`)
    .execute();
  return rows.map(({ accountKey, ...lease }) => ({
    ...lease,
    credentials: Object.fromEntries(
      sealed
        .filter((each) => each.agentId === lease.agentId && each.channel === lease.channel)
        .map((each) => [each.name, each.sealed]),
    ),
    isUnverified: accountKey !== null && isUnverifiedAccount(accountKey),
  }));
}

export async function renew(
  db: Queries,
  leases: readonly LeaseRef[],
  leaseMs: number,
): Promise<readonly Pick<Lease, 'agentId' | 'channel' | 'number' | 'access'>[]> {
  if (leases.length === 0) return [];
  const { rows } = await sql<Pick<Lease, 'agentId' | 'channel' | 'number' | 'access'>>`
    update channels c set lease_until = ${inMs(leaseMs)}
    from ${leaseRows(leases)}
    where ${isHeld} and c.enabled and c.revision = c.lease_revision
      and exists (select from agents a where a.id = c.agent_id and a.desired = 'running')
    returning c.agent_id, c.channel, c.lease_number as number, c.access
  `.execute(db);
  return rows;
}

/** Releases a lease. The time of its end stays, so readers see by it that nobody takes the channel. */
export async function release(trx: Transaction, { agentId, channel, number }: LeaseRef): Promise<void> {
  // The commit does not wait for the disk, because a forgotten release ends with its time.
  await sql`select set_config('synchronous_commit', 'off', true)`.execute(trx);
  await sql`
    with freed as (
      update channels c set ${released('c')}
      where agent_id = ${agentId} and channel = ${channel} and lease_number = ${number} and lease_until is not null
      returning 1
    )
    select pg_notify('channel_changed', ${agentId}) from freed
  `.execute(trx);
}
