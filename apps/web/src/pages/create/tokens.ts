/** The channels of a new agent, and the tokens that their platforms gave. A token is kept nowhere. */
import type { CreateAgent } from '@lodge/sdk';
import { channelNames, channelTitles } from '../agent/channels/channel-names.ts';
import type { ChannelName } from '../agent/channels/channel-names.ts';
import { platforms } from '../agent/channels/platforms.tsx';
import type { SecretField } from '../agent/channels/platforms.tsx';

export type TokenName = `${ChannelName}.${SecretField['name']}`;
export type Tokens = Readonly<Partial<Record<TokenName, string>>>;

export const tokenName = (channel: ChannelName, secret: SecretField['name']): TokenName => `${channel}.${secret}`;

const tokensOf = (channel: ChannelName): readonly TokenName[] =>
  platforms[channel].secrets.map(({ name }) => tokenName(channel, name));

/** Reads the channels of a kept draft. */
export const channelsIn = (kept: unknown): readonly ChannelName[] =>
  channelNames.filter((name) => Array.isArray(kept) && kept.includes(name));

/** The channels of the request; nothing without any. */
export function channelsBody(channels: readonly ChannelName[], tokens: Tokens): Pick<CreateAgent, 'channels'> {
  if (channels.length === 0) return {};
  const bodies = channels.map((channel) => [
    channel,
    Object.fromEntries(
      platforms[channel].secrets.map(({ name }) => [name, (tokens[tokenName(channel, name)] ?? '').trim()]),
    ),
  ]);
  return { channels: Object.fromEntries(bodies) as NonNullable<CreateAgent['channels']> };
}

/** The tokens that are missing or cannot be any. */
export function tokenProblems(channels: readonly ChannelName[], tokens: Tokens): Partial<Record<TokenName, string>> {
  const problems: Partial<Record<TokenName, string>> = {};
  for (const channel of channels) {
    for (const name of tokensOf(channel)) {
      const token = tokens[name]?.trim() ?? '';
      if (token === '') problems[name] = `Enter the token of ${channelTitles[channel]}.`;
      else if (!/^[\u0021-\u007e]{1,500}$/.test(token))
        problems[name] = 'A token has no spaces and no special letters.';
    }
  }
  return problems;
}

/** Returns the token that a refusal is about, such as `channels.telegram.botToken could not be verified: …`. */
export function refusedToken(message: string): readonly [TokenName, string] | null {
  const name = channelNames.flatMap(tokensOf).find((one) => message.startsWith(`channels.${one}`));
  if (name === undefined) return null;
  const [channel] = name.split('.') as [ChannelName];
  const at = message.indexOf(': ');
  const [why = ''] = (at > 0 ? message.slice(at + 2) : message).split(' With ?verify=false');
  return [name, `${channelTitles[channel]} does not take it. ${why}`];
}

/** The first channel that somebody has to pair once the agent runs. */
export const toPair = (channels: readonly ChannelName[]): ChannelName | undefined =>
  channels.find((channel) => platforms[channel].secrets.length === 0);
