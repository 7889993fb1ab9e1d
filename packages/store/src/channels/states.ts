/** The state that a connection reports, and the credentials that it renews. */
import { channelTitles, isUnverifiedAccount } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import type { ConnectionState, LeaseRef } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { Channels } from '../database/tables.ts';
import { appendEvents } from '../events/append.ts';
import { leaveAccount } from './account.ts';
import { holds, lockHeld } from './leases.ts';
import { notify } from '../database/notifications.ts';
import { isUniqueViolation } from '../database/unique-violation.ts';
import { storable, storableJson } from './text.ts';

const maxSentenceChars = 1_000;

export type Before = Pick<Selectable<Channels>, 'accountId' | 'accountKey' | 'status' | 'statusCode' | 'identity'>;

/** Writes a state. False when the lease is lost, or another revision is wanted by now. */
export async function changed(
  trx: Transaction,
  lease: LeaseRef,
  state: ConnectionState,
  sealedCode: string | null,
  accountKey?: string,
): Promise<boolean | 'conflict'> {
  const { rows } = await sql<Before>`
    select c.account_id, c.account_key, c.status, c.status_code, c.identity from channels c
    where ${holds(lease)} and c.enabled and c.revision = c.lease_revision for no key update
  `.execute(trx);
  const [before] = rows;
  if (before === undefined) return false;
  const isTaken = accountKey !== undefined && !(await takeAccount(trx, lease, accountKey));
  const now = isTaken ? takenState(lease) : state;
  const isAnother = accountKey !== undefined && isOther(before.accountKey, accountKey);
  const ended = isAnother && !isTaken ? await leaveAccount(trx, { ...lease, accountId: before.accountId }) : [];
  await writeState(trx, lease, now, isTaken ? null : sealedCode);
  await notify(trx, lease.agentId, 'channel_changed');
  const event = eventOf(lease, before, now);
  const of = { accountId: before.accountId, agentId: lease.agentId, by: null };
  await appendEvents(trx, [...ended, ...(event === null ? [] : [{ ...event, ...of }])]);
  return isTaken ? 'conflict' : true;
}

/** Whether the key is another account's. A key that was not verified before belongs to these very credentials. */
const isOther = (before: string | null, accountKey: string): boolean =>
  before !== null && before !== accountKey && !isUnverifiedAccount(before);

const takenState = ({ channel }: LeaseRef): ConnectionState => ({
  status: 'error',
  reason: {
    code: 'used_elsewhere',
    message: `Another agent is connected to ${channelTitles[channel]} as this account. Remove the channel there, or use another account here.`,
  },
});

/**
 * Takes the account. The unique index decides between two simultaneous callers, and the savepoint keeps the transaction
 * whole.
 */
async function takeAccount(trx: Transaction, lease: LeaseRef, accountKey: string): Promise<boolean> {
  const { rows } = await sql`
    select from channels where channel = ${lease.channel} and account_key = ${accountKey} and agent_id <> ${lease.agentId}
  `.execute(trx);
  if (rows.length > 0) return false;
  await sql`savepoint taking`.execute(trx);
  try {
    await trx
      .updateTable('channels')
      .set({ accountKey })
      .where('agentId', '=', lease.agentId)
      .where('channel', '=', lease.channel)
      .where('accountKey', 'is distinct from', accountKey)
      .execute();
    await sql`release savepoint taking`.execute(trx);
    return true;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    await sql`rollback to savepoint taking`.execute(trx);
    return false;
  }
}

export async function writeState(
  trx: Transaction,
  { agentId, channel }: LeaseRef,
  state: ConnectionState,
  sealedCode: string | null,
): Promise<void> {
  const reason = 'reason' in state ? state.reason : null;
  const code = state.status === 'pending_pairing' && sealedCode !== null ? state.code : undefined;
  const isUp = state.status === 'connected';
  await trx
    .updateTable('channels')
    .set({
      status: state.status,
      statusCode: reason?.code ?? null,
      statusMessage: reason === null ? null : storable(reason.message, maxSentenceChars),
      statusAt: reason === null ? null : sql<Date>`clock_timestamp()`,
      pairingSealed: code === undefined ? null : sealedCode,
      pairingExpiresAt: code?.expiresAt ?? null,
      pairingAttempt: code?.attempt ?? null,
      note: isUp && state.note !== undefined ? storable(state.note, maxSentenceChars) : null,
      ...(isUp && { identity: storableJson({ id: state.identity.id, name: state.identity.name.slice(0, 200) }) }),
      updatedAt: sql<Date>`clock_timestamp()`,
    })
    .where('agentId', '=', agentId)
    .where('channel', '=', channel)
    .execute();
}

/** Returns the event of a state; null when it is as before. Another sentence of the same reason is no event. */
export function eventOf({ channel }: LeaseRef, before: Before, state: ConnectionState): Happening | null {
  const isSame = state.status === before.status && ('reason' in state ? state.reason.code === before.statusCode : true);
  if (isSame) return null;
  switch (state.status) {
    case 'connecting':
      return null;
    case 'connected':
      return { type: 'channel.connected', data: { channel, identity: storable(state.identity.name, 200) } };
    case 'disconnected':
    case 'error': {
      const { code, message } = state.reason;
      const { status } = state;
      return {
        type: 'channel.disconnected',
        data: { channel, code, message: storable(message, maxSentenceChars), status },
      };
    }
    case 'pending_pairing': {
      const { code, message } = state.reason;
      return {
        type: 'channel.pairing_required',
        data: { channel, code, message: storable(message, maxSentenceChars) },
      };
    }
  }
}

/** Stores sealed credentials. Throws `LeaseLost`. */
export async function keepSealed(
  trx: Transaction,
  lease: LeaseRef,
  sealed: Readonly<Record<string, string>>,
): Promise<void> {
  await lockHeld(trx, lease);
  const rows = Object.entries(sealed).map(([name, value]) => ({
    agentId: lease.agentId,
    channel: lease.channel,
    name,
    sealed: value,
    last4: '',
  }));
  if (rows.length === 0) return;
  await trx
    .insertInto('channelCredentials')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['agentId', 'channel', 'name'])
        .doUpdateSet((eb) => ({ sealed: eb.ref('excluded.sealed'), last4: '' })),
    )
    .execute();
}
