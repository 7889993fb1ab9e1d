import { channelNamed } from '@lodge/domain';
import { noChannel } from '@lodge/engine';
import type { Channels } from '@lodge/engine';
import type { ChannelPlace } from '@lodge/store/channels';
import type { FastifyRequest } from 'fastify';
import type { ShowsSecrets } from '../../needs.ts';
import { checkAgentId } from '../../reply/agent-record.ts';

/** For routes of messaging channels. */
export interface ChannelNeeds extends ShowsSecrets {
  readonly channels: Channels;
}

export const tags = ['Channels'];
export const readConfig = { scopes: ['agents:read'], errors: ['agent_not_found', 'channel_not_found'] } as const;
export const changeConfig = { scopes: ['agents:write'], errors: ['agent_not_found', 'channel_not_found'] } as const;

interface OfChannel {
  readonly id: string;
  readonly channel: string;
}

/**
 * The channel that the request's path names, by either of its names. An agent that is not there comes before a channel that
 * is none.
 */
export async function placeOf({ channels }: ChannelNeeds, request: FastifyRequest): Promise<ChannelPlace> {
  const { id, channel: name } = request.params as OfChannel;
  checkAgentId(id);
  const { accountId } = request.principal;
  const channel = channelNamed(name);
  if (channel !== null) return { accountId, agentId: id, channel };
  await channels.list(accountId, id);
  throw noChannel(null);
}
