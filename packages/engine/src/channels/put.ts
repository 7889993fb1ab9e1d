/** Puts and restarts channels, each in one transaction: which account a channel is, and whether it needs another connection. */
import { channelTitles, namedBy, openedState, platformOf, Refusal } from '@lodge/domain';
import type { OpenedState } from '@lodge/domain';
import type { ChangeNote } from '@lodge/ports';
import {
  findChannel,
  freeOfDeleted,
  hasCredentials,
  insertChannel,
  leaveAccount,
  lockChannel,
  putCredentials,
  reopenChannel,
  updateChannel,
} from '@lodge/store/channels';
import type { ChannelChange, ChannelPlace, ChannelRow, LockedChannel } from '@lodge/store/channels';
import { isUniqueViolation, notify } from '@lodge/store/database';
import type { Database, Transaction } from '@lodge/store/database';
import { appendEvents, writeNote } from '@lodge/store/events';
import { lockOwnAgent } from '../agents/lock.ts';
import { noChannel } from './reading.ts';

export interface Put {
  readonly row: ChannelRow;
  readonly isNew: boolean;
}

export const storeChannel = (database: Database, change: ChannelChange, note?: ChangeNote): Promise<Put> =>
  database.transaction((trx) => putChannel(trx, change, note));

/**
 * Puts or changes a channel. One that needs another connection gets a new revision and the status `connecting`,
 * `pending_pairing` or `disabled`. A change of access takes effect at once, without a new connection. Refuses with
 * `agent_not_found`, and with `channel_conflict` where another agent's channel has this account key.
 */
export async function putChannel(trx: Transaction, change: ChannelChange, note?: ChangeNote): Promise<Put> {
  const { accountId, agentId, channel, enabled, credentials } = change;
  // The end of a deletion of the agent sees every channel that was put before.
  await lockOwnAgent(trx, change);
  const before = await lockChannel(trx, change);
  const accountKey = keyAfter(before, change);
  if (typeof accountKey === 'string') await freeOfDeleted(trx, channel, accountKey);
  await write(trx, before, { ...change, accountKey });
  const ended = isOther(before, accountKey) ? await leaveAccount(trx, change) : [];
  if (credentials.length > 0) await putCredentials(trx, change);
  if (before !== undefined && wantsAnother(before, change)) {
    await reopenChannel(trx, change, await stateOf(trx, change, enabled));
  }
  const row = await findChannel(trx, change);
  await notify(trx, agentId, 'channel_changed', 'channel_work');
  await appendEvents(trx, ended);
  await writeNote(trx, { accountId, agentId }, { type: 'channel.configured', data: { channel, enabled } }, note);
  return { row: row!, isNew: before === undefined };
}

/** The unique index decides between two channels of one account. */
async function write(trx: Transaction, before: LockedChannel | undefined, change: ChannelChange): Promise<void> {
  const { channel, enabled, credentials } = change;
  try {
    if (before === undefined) {
      const isReady = credentials.length > 0 || platformOf(channel).waits === undefined;
      await insertChannel(trx, change, openedState(channel, enabled, isReady));
    } else await updateChannel(trx, change);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new Refusal(
      'channel_conflict',
      `Another agent of this deployment is connected to ${channelTitles[channel]} by the same account. Give this one its own, or remove the other's channel.`,
    );
  }
}

/**
 * Returns the account key after a change; undefined leaves it. A new token of the channel's proven account keeps the key,
 * though the platform was not asked.
 */
function keyAfter(before: LockedChannel | undefined, { accountKey }: ChannelChange): string | null | undefined {
  const named = typeof accountKey === 'string' ? namedBy(accountKey) : null;
  return named !== null && before?.accountKey === named ? undefined : accountKey;
}

/** Whether a channel becomes another account of its platform. */
function isOther(before: LockedChannel | undefined, accountKey: string | null | undefined): boolean {
  if (typeof accountKey !== 'string' || before === undefined) return false;
  return before.accountKey !== null && before.accountKey !== accountKey;
}

/**
 * Whether a change needs another connection. Access is looked up with each message, so another list of senders leaves the
 * connection as it is.
 */
function wantsAnother(before: LockedChannel, { enabled, access, credentials, accountKey }: ChannelChange): boolean {
  const isOtherKey = accountKey !== undefined && accountKey !== before.accountKey;
  // A connection subscribes to as much as it needs.
  const hearsOtherwise = access.groups.requireMention !== before.access.groups.requireMention;
  // A put of a channel in `error` may mean that its owner repaired it elsewhere.
  const isGivenUp = before.status === 'error' || before.statusCode === 'logged_out';
  return enabled !== before.enabled || credentials.length > 0 || isOtherKey || hearsOtherwise || isGivenUp;
}

/** Returns the state until there is another connection. Without credentials some platforms wait for a person. */
async function stateOf(trx: Transaction, place: ChannelPlace, enabled: boolean): Promise<OpenedState> {
  const { channel } = place;
  const isReady = enabled && (platformOf(channel).waits === undefined || (await hasCredentials(trx, place)));
  return openedState(channel, enabled, isReady);
}

/** Requests another connection. */
export const restartChannel = (database: Database, place: ChannelPlace, note?: ChangeNote): Promise<ChannelRow> =>
  database.transaction(async (trx) => {
    const { agentId, channel } = place;
    const before = await lockChannel(trx, place);
    if (before === undefined) throw noChannel(channel);
    await reopenChannel(trx, place, await stateOf(trx, place, before.enabled));
    const row = await findChannel(trx, place);
    if (row === null) throw noChannel(channel);
    await notify(trx, agentId, 'channel_changed');
    await writeNote(trx, place, { type: 'channel.restarted', data: { channel } }, note);
    return row;
  });
