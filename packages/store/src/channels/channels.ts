/** Statements of a channel's put, restart and removal. */
import { randomInt } from 'node:crypto';
import type { ChannelAccess, ChannelName, OpenedState } from '@lodge/domain';
import { sql } from 'kysely';
import type { Selectable, Updateable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { Channels } from '../database/tables.ts';
import type { ChannelCredential } from './channel-row.ts';
import type { ChannelPlace } from './senders.ts';
import { storableJson } from './text.ts';

/** A channel of an agent that may not be there yet. */
export interface NewChannel {
  readonly channel: ChannelName;
  readonly enabled: boolean;
  readonly access: ChannelAccess;
  /** Replaces the credentials that it names; others stay. */
  readonly credentials: readonly Omit<ChannelCredential, 'createdAt'>[];
  /**
   * The key that only one connection may use, as `Verified.accountKey`. Null when not known yet; undefined leaves it as it
   * was.
   */
  readonly accountKey?: string | null | undefined;
}

export interface ChannelChange extends NewChannel {
  readonly accountId: string;
  readonly agentId: string;
}

export type LockedChannel = Selectable<Channels>;

const now = sql<Date>`clock_timestamp()`;

/**
 * Bound on random first lease numbers. A channel that is removed and put again starts elsewhere, so an earlier holder has no
 * number of it.
 */
const firstLeaseNumbers = 2 ** 30;

const withoutState = {
  statusCode: null,
  statusMessage: null,
  statusAt: null,
  note: null,
  pairingSealed: null,
  pairingExpiresAt: null,
  pairingAttempt: null,
  notBefore: null,
  faults: 0,
} as const satisfies Updateable<Channels>;

/** Locks the channel until the transaction ends. */
export const lockChannel = (
  trx: Transaction,
  { accountId, agentId, channel }: ChannelPlace,
): Promise<LockedChannel | undefined> =>
  trx
    .selectFrom('channels')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('agentId', '=', agentId)
    .where('channel', '=', channel)
    .forNoKeyUpdate()
    .executeTakeFirst();

export async function insertChannel(
  trx: Transaction,
  { accountId, agentId, channel, enabled, access, accountKey = null }: ChannelChange,
  state: OpenedState,
): Promise<void> {
  await trx
    .insertInto('channels')
    .values({
      agentId,
      channel,
      accountId,
      enabled,
      access: storableJson(access),
      ...columnsOf(state),
      accountKey,
      leaseNumber: randomInt(firstLeaseNumbers),
    })
    .execute();
}

/** The connection stays as it is. */
export async function updateChannel(
  trx: Transaction,
  { agentId, channel, enabled, access, accountKey }: ChannelChange,
): Promise<void> {
  await trx
    .updateTable('channels')
    .set({
      enabled,
      access: storableJson(access),
      ...(accountKey !== undefined && { accountKey }),
      updatedAt: now,
    })
    .where('agentId', '=', agentId)
    .where('channel', '=', channel)
    .execute();
}

/** Frees the account key of a channel whose agent is being deleted. */
export async function freeOfDeleted(trx: Transaction, channel: ChannelName, accountKey: string): Promise<void> {
  await sql`
    update channels c set account_key = null from agents a
    where c.channel = ${channel} and c.account_key = ${accountKey} and a.id = c.agent_id and a.desired = 'deleted'
  `.execute(trx);
}

/** Stores credentials, of which there is at least one. */
export async function putCredentials(
  trx: Transaction,
  { agentId, channel, credentials }: Pick<ChannelChange, 'agentId' | 'channel' | 'credentials'>,
): Promise<void> {
  await trx
    .insertInto('channelCredentials')
    .values(credentials.map(({ name, sealed, last4 }) => ({ agentId, channel, name, sealed, last4 })))
    .onConflict((conflict) =>
      conflict.columns(['agentId', 'channel', 'name']).doUpdateSet((eb) => ({
        sealed: eb.ref('excluded.sealed'),
        last4: eb.ref('excluded.last4'),
        createdAt: now,
      })),
    )
    .execute();
}

export async function hasCredentials(trx: Transaction, { agentId, channel }: ChannelPlace): Promise<boolean> {
  const kept = await trx
    .selectFrom('channelCredentials')
    .select('name')
    .where('agentId', '=', agentId)
    .where('channel', '=', channel)
    .limit(1)
    .executeTakeFirst();
  return kept !== undefined;
}

const columnsOf = ({ status, reason }: OpenedState) => ({
  status,
  ...(reason !== null && { statusCode: reason.code, statusMessage: reason.message, statusAt: now }),
});

/** Requests another connection, and writes the state until there is one. */
export async function reopenChannel(
  trx: Transaction,
  { agentId, channel }: ChannelPlace,
  state: OpenedState,
): Promise<void> {
  await trx
    .updateTable('channels')
    .set((eb) => ({
      ...withoutState,
      ...columnsOf(state),
      revision: eb('revision', '+', 1),
      updatedAt: now,
    }))
    .where('agentId', '=', agentId)
    .where('channel', '=', channel)
    .execute();
}

/** Deletes the channel with all that belongs to it, and returns whether there was one. */
export async function deleteChannel(trx: Transaction, { accountId, agentId, channel }: ChannelPlace): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('channels')
    .where('accountId', '=', accountId)
    .where('agentId', '=', agentId)
    .where('channel', '=', channel)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
