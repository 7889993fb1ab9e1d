import { randomInt } from 'node:crypto';
import { namedBy, openedState, platformOf } from '@lodge/domain';
import type { ChannelName, OpenedState } from '@lodge/domain';
import type {
  ActorNote,
  ChangeNote,
  ChannelChange,
  ChannelMessage,
  ChannelRow,
  ChannelStore,
  MessageQuery,
} from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable, Updateable } from 'kysely';
import type { Database } from '../database/connection.ts';
import { databaseOf, snake } from '../database/database.ts';
import type { Transaction } from '../database/database.ts';
import type { Changes } from '../database/notifications.ts';
import type { Channels } from '../database/tables.ts';
import { lockAgent } from '../agents/lock.ts';
import { appendEvents } from '../events/append.ts';
import { writeNote } from '../events/change-note.ts';
import { leaveAccount } from './account.ts';
import { findChannel } from './channel-row.ts';
import { messagePage, retryMessage } from './messages.ts';
import { notify } from '../database/notifications.ts';
import { queueInConversation, sayInConversation, sayableConversations, whyUnsayable } from './say.ts';
import type { ChannelPlace } from './senders.ts';
import { isUniqueViolation } from './states.ts';
import { storableJson } from './text.ts';

/** `ChannelStore` in Postgres. */
export class PostgresChannelStore implements ChannelStore {
  private readonly database: Database;
  private readonly changes: Changes;

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  async put(
    change: ChannelChange,
    note?: ChangeNote,
  ): Promise<{ readonly row: ChannelRow; readonly isNew: boolean } | 'conflict' | 'no_agent'> {
    try {
      return await databaseOf(this.database).transaction((trx) => putChannel(trx, change, note));
    } catch (error) {
      if (isUniqueViolation(error)) return 'conflict';
      throw error;
    }
  }

  messages(query: MessageQuery): Promise<readonly ChannelMessage[]> {
    return this.database.repeatable((db) => messagePage(db, query));
  }

  retry(
    accountId: string,
    agentId: string,
    messageId: string,
    note?: ActorNote,
  ): Promise<ChannelMessage | 'not_retryable' | null> {
    return this.database.transaction((trx) => retryMessage(trx, { accountId, agentId, messageId }, note));
  }

  say(destination: Parameters<ChannelStore['say']>[0], text: string): ReturnType<ChannelStore['say']> {
    return this.database.transaction((trx) => sayInConversation(trx, destination, text));
  }

  queue(...[destination, answer]: Parameters<ChannelStore['queue']>): ReturnType<ChannelStore['queue']> {
    return this.database.transaction((trx) => queueInConversation(trx, destination, answer));
  }

  whyUnsayable(destination: Parameters<ChannelStore['say']>[0]): ReturnType<ChannelStore['whyUnsayable']> {
    return this.database.transaction((trx) => whyUnsayable(trx, destination));
  }

  sayable(accountId: string, agentId: string, limit: number): ReturnType<ChannelStore['sayable']> {
    return this.database.repeatable((db) => sayableConversations(db, accountId, agentId, limit));
  }

  onChange(listener: (agentId: string | null) => void): () => void {
    return this.changes.on('channel_changed', listener);
  }
}

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
): Promise<Selectable<Channels> | undefined> =>
  trx
    .selectFrom('channels')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('agentId', '=', agentId)
    .where('channel', '=', channel)
    .forNoKeyUpdate()
    .executeTakeFirst();

export async function putChannel(
  trx: Transaction,
  change: ChannelChange,
  note: ChangeNote | undefined,
): Promise<{ readonly row: ChannelRow; readonly isNew: boolean } | 'no_agent'> {
  const { accountId, agentId, channel, enabled, access, credentials } = change;
  // The agent is not being deleted, and is locked: the end of a deletion sees every channel that was put before.
  const agent = await lockAgent(trx, agentId);
  if (agent?.accountId !== accountId || agent.desired !== 'running') return 'no_agent';
  const before = await lockChannel(trx, change);
  const accountKey = keyAfter(before, change);
  if (typeof accountKey === 'string') await freeOfDeleted(trx, channel, accountKey);
  const isAnother =
    typeof accountKey === 'string' && before != null && before.accountKey !== null && before.accountKey !== accountKey;
  await trx
    .insertInto('channels')
    .values({
      agentId,
      channel,
      accountId,
      enabled,
      access: storableJson(access),
      ...columnsOf(openedState(channel, enabled, platformOf(channel).waits === undefined || credentials.length > 0)),
      accountKey: accountKey ?? null,
      leaseNumber: randomInt(firstLeaseNumbers),
    })
    .onConflict((conflict) =>
      conflict.columns(['agentId', 'channel']).doUpdateSet({
        enabled,
        access: storableJson(access),
        ...(accountKey !== undefined && { accountKey }),
        updatedAt: now,
      }),
    )
    .execute();
  const ended = isAnother ? await leaveAccount(snake(trx), change) : [];
  await putCredentials(trx, change);
  if (before !== undefined && wantsAnother(before, change)) {
    await reopenChannel(trx, change, openedState(channel, enabled, enabled && (await isReady(trx, change))));
  }
  const row = await findChannel(trx, change);
  await notify(trx, agentId, 'channel_changed', 'channel_work');
  await appendEvents(trx, ended);
  await writeNote(trx, { accountId, agentId }, { type: 'channel.configured', data: { channel, enabled } }, note);
  return { row: row!, isNew: before === undefined };
}

/**
 * Returns the account key after a change. A new token of the channel's proven account keeps the key, though the platform was
 * not asked.
 */
function keyAfter(before: Selectable<Channels> | undefined, { accountKey }: ChannelChange): string | null | undefined {
  const named = typeof accountKey === 'string' ? namedBy(accountKey) : null;
  return named !== null && before?.accountKey === named ? undefined : accountKey;
}

/**
 * Whether a change needs another connection. Access is looked up with each message, so another list of senders leaves the
 * connection as it is.
 */
function wantsAnother(
  before: Selectable<Channels>,
  { enabled, access, credentials, accountKey }: ChannelChange,
): boolean {
  const isOther = accountKey !== undefined && accountKey !== before.accountKey;
  // A connection subscribes to as much as it needs.
  const hearsOtherwise = access.groups.requireMention !== before.access.groups.requireMention;
  // A put of a channel in `error` may mean that its owner repaired it elsewhere.
  const isGivenUp = before.status === 'error' || before.statusCode === 'logged_out';
  return enabled !== before.enabled || credentials.length > 0 || isOther || hearsOtherwise || isGivenUp;
}

/** Frees the account key of a channel whose agent is being deleted. */
async function freeOfDeleted(trx: Transaction, channel: ChannelName, accountKey: string): Promise<void> {
  await sql`
    update channels c set account_key = null from agents a
    where c.channel = ${channel} and c.account_key = ${accountKey} and a.id = c.agent_id and a.desired = 'deleted'
  `.execute(trx);
}

async function putCredentials(trx: Transaction, { agentId, channel, credentials }: ChannelChange): Promise<void> {
  if (credentials.length === 0) return;
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

/** Whether a channel has the credentials without which it waits for a person. */
export async function isReady(trx: Transaction, { agentId, channel }: ChannelPlace): Promise<boolean> {
  if (platformOf(channel).waits === undefined) return true;
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
