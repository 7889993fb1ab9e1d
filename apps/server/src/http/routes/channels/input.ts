/** Bodies of channels, checked against their platform's needs. */
import { channelCredentials, channelNamed, channelTitles, defaultAccess, Refusal } from '@lodge/domain';
import type { ChannelAccess, ChannelName } from '@lodge/domain';
import type { ChannelsInput, PutChannel } from '@lodge/contract';
import type { ChannelInput } from '@lodge/engine';

export function channelInput(channel: ChannelName, body: PutChannel, prefix = ''): ChannelInput {
  const { enabled = true, access, ...credentials } = body;
  const unknown = Object.keys(credentials)
    .toSorted()
    .find((name) => !channelCredentials[channel].includes(name));
  if (unknown !== undefined) {
    throw new Refusal('invalid_request', `${prefix}${unknown} is not a known field of ${channelTitles[channel]}.`);
  }
  return { channel, enabled, access: accessOf(access), credentials };
}

/** Channels of a new agent; each is checked like its own PUT. */
export function channelInputs(given: ChannelsInput = {}): readonly ChannelInput[] {
  return Object.entries(given).map(([name, body = {}]) => channelInput(channelNamed(name)!, body, `channels.${name}.`));
}

function accessOf(given: PutChannel['access'] = {}): ChannelAccess {
  const { groups = {} } = given;
  return {
    mode: given.mode ?? defaultAccess.mode,
    allowFrom: given.allow_from ?? defaultAccess.allowFrom,
    groups: {
      mode: groups.mode ?? defaultAccess.groups.mode,
      allow: groups.allow ?? defaultAccess.groups.allow,
      requireMention: groups.require_mention ?? defaultAccess.groups.requireMention,
    },
    perSenderHourly: given.per_sender_hourly ?? defaultAccess.perSenderHourly,
  };
}
