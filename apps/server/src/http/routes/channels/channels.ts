import {
  AgentParams,
  Channel,
  ChannelList,
  ChannelParams,
  DeletedChannel,
  PutChannel,
  PutChannelQuery,
} from '@lodge/contract';
import { checkAgentId } from '../../reply/agent-record.ts';
import { changeNote } from '../../identity/change-note.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import type { App } from '../../app-types.ts';
import { channelInput } from './input.ts';
import { channelRecord, emptyRecord } from './record.ts';
import { changeConfig, placeOf, readConfig, tags } from './shared.ts';
import type { ChannelNeeds } from './shared.ts';

/** `GET /v1/agents/:id/channels`, `GET`, `PUT` and `DELETE /v1/agents/:id/channels/:channel`. */
export function channelRoutes(app: App, needs: ChannelNeeds): void {
  listRoute(app, needs);
  getRoute(app, needs);
  putRoute(app, needs);
  deleteRoute(app, needs);
}

function listRoute(app: App, needs: ChannelNeeds): void {
  const { channels } = needs;
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/channels',
    schema: {
      operationId: 'listChannels',
      tags,
      summary: 'List the messaging channels of an agent',
      params: AgentParams,
      response: { 200: { ...ChannelList, 'x-response-description': 'Those that were put.' } },
    },
    config: { ...readConfig, errors: ['agent_not_found'] },
    handler: async (request) => {
      const { id } = request.params;
      checkAgentId(id);
      const rows = await channels.list(request.principal.accountId, id);
      return {
        object: 'list' as const,
        data: rows.map((row) => channelRecord(row, needs.fingerprints)),
        has_more: false as const,
        next_cursor: null,
      };
    },
  });
}

function getRoute(app: App, needs: ChannelNeeds): void {
  const { channels } = needs;
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/channels/:channel',
    schema: {
      operationId: 'getChannel',
      tags,
      summary: 'Read a messaging channel of an agent',
      description: 'One that was never put has the status `not_configured`.',
      params: ChannelParams,
      response: { 200: { ...Channel, 'x-response-description': 'The channel.' } },
    },
    config: readConfig,
    handler: async (request) => {
      const place = await placeOf(needs, request);
      const row = await channels.find(place);
      return row === null ? emptyRecord(place) : channelRecord(row, needs.fingerprints);
    },
  });
}

function putRoute(app: App, needs: ChannelNeeds): void {
  const { channels } = needs;
  app.route({
    method: 'PUT',
    url: '/v1/agents/:id/channels/:channel',
    schema: {
      operationId: 'putChannel',
      tags,
      summary: 'Put a messaging channel of an agent',
      description:
        'Replaces what is there, in every state of the agent; a secret that is left out keeps the stored one. New secrets are verified at the platform before anything is written, unless `verify=false`. The connection is held on the host: `status` says how it is.',
      params: ChannelParams,
      querystring: PutChannelQuery,
      body: PutChannel,
      response: { 200: { ...Channel, 'x-response-description': 'The channel as it is now.' } },
    },
    config: { ...changeConfig, errors: [...changeConfig.errors, 'channel_conflict'] },
    handler: async (request, reply) => {
      const { accountId, agentId, channel } = await placeOf(needs, request);
      const input = channelInput(channel, request.body);
      const { row } = await channels.put(accountId, agentId, input, {
        verify: request.query.verify !== 'false',
        signal: clientGone(reply),
        note: changeNote(request, { type: 'channel.configured', data: { channel, enabled: input.enabled } }),
      });
      return channelRecord(row, needs.fingerprints);
    },
  });
}

function deleteRoute(app: App, needs: ChannelNeeds): void {
  const { channels } = needs;
  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id/channels/:channel',
    schema: {
      operationId: 'deleteChannel',
      tags,
      summary: 'Remove a messaging channel of an agent',
      description: 'With its secrets, its pairing, its senders and its messages.',
      params: ChannelParams,
      response: { 200: { ...DeletedChannel, 'x-response-description': 'It is gone.' } },
    },
    config: changeConfig,
    handler: async (request) => {
      const place = await placeOf(needs, request);
      const { channel } = place;
      await channels.remove(place, changeNote(request, { type: 'channel.removed', data: { channel } }));
      return { object: 'channel.deleted' as const, channel, deleted: true as const };
    },
  });
}
