import { randomInt } from 'node:crypto';
import { namedBy, platformOf } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
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
import type { Selectable, Transaction, Updateable } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Changes } from '../database/notifications.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvents } from '../events/append.ts';
import { writeNote } from '../events/change-note.ts';
import { leaveAccount } from './account.ts';
import { selectChannels } from './channel-row.ts';
import { messagePage, retryMessage } from './messages.ts';
import { notify } from '../database/notifications.ts';
import { queueInConversation, sayInConversation, sayableConversations, whyUnsayable } from './say.ts';
import { isUniqueViolation } from './states.ts';
import type { ChannelsTable } from './tables.ts';
import { storableJson } from './text.ts';

/** `ChannelStore` in Postgres. */
export class PostgresChannelStore implements ChannelStore {
  private readonly database: Database;
  private readonly changes: Changes;

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  ofAgent(accountId: string, agentId: string): Promise<readonly ChannelRow[]> {
    return this.database.repeatable((db) => selectChannels(db, accountId, agentId));
  }

  async find(accountId: string, agentId: string, channel: ChannelName): Promise<ChannelRow | null> {
    const [row] = await this.database.repeatable((db) => selectChannels(db, accountId, agentId, channel));
    return row ?? null;
  }

  async put(
    change: ChannelChange,
    note?: ChangeNote,
  ): Promise<{ readonly row: ChannelRow; readonly isNew: boolean } | 'conflict' | 'no_agent'> {
    try {
      return await this.database.transaction((trx) => putChannel(trx, change, note));
    } catch (error) {
      if (isUniqueViolation(error)) return 'conflict';
      throw error;
    }
  }

  remove(accountId: string, agentId: string, channel: ChannelName, note?: ChangeNote): Promise<boolean> {
    return this.database.transaction(async (trx) => {
      const { numDeletedRows } = await trx
        .deleteFrom('channels')
        .where('account_id', '=', accountId)
        .where('agent_id', '=', agentId)
        .where('channel', '=', channel)
        .executeTakeFirst();
      if (numDeletedRows === 0n) return false;
      await notify(trx, agentId, 'channel_changed');
      await writeNote(trx, { accountId, agentId }, { type: 'channel.removed', data: { channel } }, note);
      return true;
    });
  }

  restart(accountId: string, agentId: string, channel: ChannelName, note?: ChangeNote): Promise<ChannelRow | null> {
    return this.database.transaction(async (trx) => {
      const row = await lockChannel(trx, accountId, agentId, channel);
      if (row === undefined) return null;
      const state = row.enabled ? await stateOf(trx, agentId, channel) : { status: 'disabled' as const };
      await trx
        .updateTable('channels')
        .set((eb) => ({ ...withoutState, ...state, revision: eb('revision', '+', 1), updated_at: now }))
        .where('agent_id', '=', agentId)
        .where('channel', '=', channel)
        .execute();
      const [restarted] = await selectChannels(trx, accountId, agentId, channel);
      await notify(trx, agentId, 'channel_changed');
      await writeNote(trx, { accountId, agentId }, { type: 'channel.restarted', data: { channel } }, note);
      return restarted ?? null;
    });
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
  status_code: null,
  status_message: null,
  status_at: null,
  note: null,
  pairing_sealed: null,
  pairing_expires_at: null,
  pairing_attempt: null,
  not_before: null,
  faults: 0,
} as const satisfies Updateable<ChannelsTable>;

const lockChannel = (trx: Transaction<Schema>, accountId: string, agentId: string, channel: ChannelName) =>
  trx
    .selectFrom('channels')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('channel', '=', channel)
    .forNoKeyUpdate()
    .executeTakeFirst();

export async function putChannel(
  trx: Transaction<Schema>,
  change: ChannelChange,
  note: ChangeNote | undefined,
): Promise<{ readonly row: ChannelRow; readonly isNew: boolean } | 'no_agent'> {
  const { accountId, agentId, channel, enabled, access } = change;
  if (!(await lockLiving(trx, accountId, agentId))) return 'no_agent';
  const before = await lockChannel(trx, accountId, agentId, channel);
  const accountKey = keyAfter(before, change);
  if (typeof accountKey === 'string') await freeOfDeleted(trx, channel, accountKey);
  const isAnother =
    typeof accountKey === 'string' &&
    before != null &&
    before.account_key !== null &&
    before.account_key !== accountKey;
  const isOpenedAnew = before === undefined || wantsAnother(before, change);
  await trx
    .insertInto('channels')
    .values({
      agent_id: agentId,
      channel,
      account_id: accountId,
      enabled,
      access: storableJson(access),
      status: 'connecting',
      account_key: accountKey ?? null,
      lease_number: randomInt(firstLeaseNumbers),
    })
    .onConflict((conflict) =>
      conflict.columns(['agent_id', 'channel']).doUpdateSet((eb) => ({
        enabled,
        access: storableJson(access),
        ...(isOpenedAnew && { revision: eb('channels.revision', '+', 1) }),
        ...(accountKey !== undefined && { account_key: accountKey }),
        updated_at: now,
      })),
    )
    .execute();
  const ended = isAnother ? await leaveAccount(trx, change) : [];
  await putCredentials(trx, change);
  if (isOpenedAnew) {
    await trx
      .updateTable('channels')
      .set({ ...withoutState, ...(enabled ? await stateOf(trx, agentId, channel) : { status: 'disabled' }) })
      .where('agent_id', '=', agentId)
      .where('channel', '=', channel)
      .execute();
  }
  const [row] = await selectChannels(trx, accountId, agentId, channel);
  await notify(trx, agentId, 'channel_changed', 'channel_work');
  await appendEvents(trx, ended);
  await writeNote(trx, { accountId, agentId }, { type: 'channel.configured', data: { channel, enabled } }, note);
  return { row: row!, isNew: before === undefined };
}

/**
 * Returns the account key after a change. A new token of the channel's proven account keeps the key, though the platform was
 * not asked.
 */
function keyAfter(
  before: Selectable<ChannelsTable> | undefined,
  { accountKey }: ChannelChange,
): string | null | undefined {
  const named = typeof accountKey === 'string' ? namedBy(accountKey) : null;
  return named !== null && before?.account_key === named ? undefined : accountKey;
}

/**
 * Whether a change needs another connection. Access is looked up with each message, so another list of senders leaves the
 * connection as it is.
 */
function wantsAnother(
  before: Selectable<ChannelsTable>,
  { enabled, access, credentials, accountKey }: ChannelChange,
): boolean {
  const isOther = accountKey !== undefined && accountKey !== before.account_key;
  // A connection subscribes to as much as it needs.
  const hearsOtherwise = access.groups.requireMention !== before.access.groups.requireMention;
  // A put of a channel in `error` may mean that its owner repaired it elsewhere.
  const isGivenUp = before.status === 'error' || before.status_code === 'logged_out';
  return enabled !== before.enabled || credentials.length > 0 || isOther || hearsOtherwise || isGivenUp;
}

/** Locks an agent that is not being deleted. The end of a deletion therefore sees every channel that was put before. */
async function lockLiving(trx: Transaction<Schema>, accountId: string, agentId: string): Promise<boolean> {
  const agent = await trx
    .selectFrom('agents')
    .select('id')
    .where('id', '=', agentId)
    .where('account_id', '=', accountId)
    .where('desired', '=', 'running')
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return agent !== undefined;
}

/** Frees the account key of a channel whose agent is being deleted. */
async function freeOfDeleted(trx: Transaction<Schema>, channel: ChannelName, accountKey: string): Promise<void> {
  await sql`
    update channels c set account_key = null from agents a
    where c.channel = ${channel} and c.account_key = ${accountKey} and a.id = c.agent_id and a.desired = 'deleted'
  `.execute(trx);
}

async function putCredentials(
  trx: Transaction<Schema>,
  { agentId, channel, credentials }: ChannelChange,
): Promise<void> {
  if (credentials.length === 0) return;
  await trx
    .insertInto('channel_credentials')
    .values(credentials.map(({ name, sealed, last4 }) => ({ agent_id: agentId, channel, name, sealed, last4 })))
    .onConflict((conflict) =>
      conflict.columns(['agent_id', 'channel', 'name']).doUpdateSet((eb) => ({
        sealed: eb.ref('excluded.sealed'),
        last4: eb.ref('excluded.last4'),
        created_at: now,
      })),
    )
    .execute();
}

/** Returns the state of a channel whose connection is opened anew. */
async function stateOf(trx: Transaction<Schema>, agentId: string, channel: ChannelName) {
  const { waits } = platformOf(channel);
  if (waits === undefined) return { status: 'connecting' } as const;
  const kept = await trx
    .selectFrom('channel_credentials')
    .select('name')
    .where('agent_id', '=', agentId)
    .where('channel', '=', channel)
    .limit(1)
    .executeTakeFirst();
  if (kept !== undefined) return { status: 'connecting' } as const;
  return { status: 'pending_pairing', status_code: waits.code, status_message: waits.message, status_at: now } as const;
}
