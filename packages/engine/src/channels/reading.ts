import { Refusal, channelNames } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import { findChannel } from '@lodge/store/channels';
import type { ChannelPlace, ChannelRow } from '@lodge/store/channels';
import type { ChannelsDeps } from './deps.ts';

/** The refusal for a missing channel. Null means that no channel has the requested name. */
export const noChannel = (channel: ChannelName | null): Refusal =>
  new Refusal(
    'channel_not_found',
    channel === null
      ? `There is no such channel; there are ${channelNames.join(', ')}.`
      : `The agent has no channel ${channel}.`,
  );

type Reads = Pick<ChannelsDeps, 'agents' | 'database'>;

/** Returns null if the channel was never put. */
export async function channelAt({ agents, database }: Reads, place: ChannelPlace): Promise<ChannelRow | null> {
  await agents.get(place.accountId, place.agentId);
  return database.repeatable((db) => findChannel(db, place));
}

export async function presentChannel(deps: Reads, place: ChannelPlace): Promise<ChannelRow> {
  const row = await channelAt(deps, place);
  if (row === null) throw noChannel(place.channel);
  return row;
}

/** Calls back when a channel of the agent may have changed. */
export const onChannelChange = (
  { changes }: Pick<ChannelsDeps, 'changes'>,
  agentId: string,
  listener: () => void,
): (() => void) =>
  changes.on('channel_changed', (changed) => {
    if (changed === null || changed === agentId) listener();
  });
