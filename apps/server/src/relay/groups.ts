/** The platforms that share a process: those whose connections are cheap to open. Others have one of their own. */
import { definitions } from '@lodge/channels';
import { channelNames } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';

export type RelayGroup = ChannelName | 'messages';

export const groupOf = (channel: ChannelName): RelayGroup => (definitions[channel].isAlone ? channel : 'messages');

export const groupNames: readonly RelayGroup[] = [...new Set(channelNames.map(groupOf))];

export const channelsOf = (group: RelayGroup): readonly ChannelName[] =>
  channelNames.filter((channel) => groupOf(channel) === group);

/** A relay's end of the channel to its control plane. */
export const relayFd = 3;
