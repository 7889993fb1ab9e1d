import { Refusal, channelTitles, openedState } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import { ChannelConflictError } from '@lodge/ports';
import type { ChangeNote, ChannelChange, ChannelRow, ChannelSecrets, NewChannel, SecretBox } from '@lodge/ports';
import { findChannel, isReady, lockChannel, reopenChannel } from '@lodge/store/channels';
import type { ChannelPlace } from '@lodge/store/channels';
import { notify } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { notFound } from '../agents/reading.ts';
import type { ChannelInput, CheckedChannel, PutOptions } from './channels.ts';
import { merged, openedOf, sealedOf, unverifiedKey, verified } from './credentials.ts';
import type { ChannelsDeps } from './deps.ts';
import { noChannel } from './not-found.ts';

/** Checks a channel. Asks the platform only about new credentials: a change of access needs no platform. */
export async function checked(
  deps: ChannelsDeps,
  input: ChannelInput,
  stored: ChannelRow | null,
  options: PutOptions,
): Promise<CheckedChannel> {
  const { channel, credentials } = input;
  const all = merged(deps.secrets, input, stored, options.prefix);
  if (Object.keys(credentials).length === 0) return { input };
  if (!options.verify) {
    const before: ChannelSecrets = stored === null ? {} : openedOf(deps.secrets, stored);
    const isSame = Object.entries(all).every(([name, value]) => before[name] === value);
    return isSame ? { input } : { input, accountKey: unverifiedKey(channel, all) };
  }
  const known = await verified(deps, channel, all, options);
  return { input, accountKey: known?.accountKey ?? unverifiedKey(channel, all) };
}

export async function put(
  deps: ChannelsDeps,
  accountId: string,
  agentId: string,
  input: ChannelInput,
  options: PutOptions & { readonly note?: ChangeNote },
): Promise<{ readonly row: ChannelRow; readonly isNew: boolean }> {
  await deps.agents.get(accountId, agentId);
  const place = { accountId, agentId, channel: input.channel };
  const stored = await deps.database.repeatable((db) => findChannel(db, place));
  return write(deps, accountId, agentId, await checked(deps, input, stored, options), options.note);
}

async function write(
  { store, secrets }: Pick<ChannelsDeps, 'store' | 'secrets'>,
  accountId: string,
  agentId: string,
  checked: CheckedChannel,
  note?: ChangeNote,
): Promise<{ readonly row: ChannelRow; readonly isNew: boolean }> {
  return stored(store, { accountId, agentId, ...newChannel(secrets, agentId, checked) }, note);
}

/** Makes the row of a checked channel. */
export function newChannel(
  secrets: SecretBox,
  agentId: string,
  { input: { channel, enabled, access, credentials }, accountKey }: CheckedChannel,
): NewChannel {
  const sealed = sealedOf(secrets, agentId, channel, credentials);
  return { channel, enabled, access, credentials: sealed, ...(accountKey !== undefined && { accountKey }) };
}

/** Stores the channel as `ChannelStore.put` does, with its refusals. */
export async function stored(
  store: ChannelsDeps['store'],
  change: ChannelChange,
  note?: ChangeNote,
): Promise<{ readonly row: ChannelRow; readonly isNew: boolean }> {
  const result = await store.put(change, note);
  if (result === 'no_agent') throw notFound(change.agentId);
  if (result === 'conflict') throw conflict(change.channel);
  return result;
}

/** Requests another connection. */
export const restart = (
  { database }: Pick<ChannelsDeps, 'database'>,
  place: ChannelPlace,
  note?: ChangeNote,
): Promise<ChannelRow> =>
  database.transaction(async (trx) => {
    const { agentId, channel } = place;
    const before = await lockChannel(trx, place);
    if (before === undefined) throw noChannel(channel);
    const { enabled } = before;
    await reopenChannel(trx, place, openedState(channel, enabled, enabled && (await isReady(trx, place))));
    const row = await findChannel(trx, place);
    if (row === null) throw noChannel(channel);
    await notify(trx, agentId, 'channel_changed');
    await writeNote(trx, place, { type: 'channel.restarted', data: { channel } }, note);
    return row;
  });

/** Returns the same promise, with a conflict of channels as a refusal. */
export async function refusingConflicts<T>(written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    throw error instanceof ChannelConflictError ? conflict(error.channel) : error;
  }
}

const conflict = (channel: ChannelName): Refusal =>
  new Refusal(
    'channel_conflict',
    `Another agent of this deployment is connected to ${channelTitles[channel]} by the same account. Give this one its own, or remove the other's channel.`,
  );
