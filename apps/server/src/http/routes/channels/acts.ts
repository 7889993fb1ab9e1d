import { Channel, ChannelParams, ChannelTest, NoBody, TestChannel } from '@lodge/contract';
import { noChannel } from '@lodge/engine';
import { changeNote } from '../../identity/change-note.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import type { App } from '../../app-types.ts';
import { channelRecord } from './record.ts';
import { changeConfig, placeOf, tags } from './shared.ts';
import type { ChannelNeeds } from './shared.ts';

/** `POST /v1/agents/:id/channels/:channel/restart` and `…/test`. */
export function channelActRoutes(app: App, needs: ChannelNeeds): void {
  restartRoute(app, needs);
  testRoute(app, needs);
}

function restartRoute(app: App, needs: ChannelNeeds): void {
  const { channels } = needs;
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/channels/:channel/restart',
    schema: {
      operationId: 'restartChannel',
      tags,
      summary: 'Open the connection of a channel anew',
      description: 'Out of `error` too. Nothing that waits is lost.',
      params: ChannelParams,
      body: NoBody,
      response: { 200: { ...Channel, 'x-response-description': 'The channel, being connected.' } },
    },
    config: changeConfig,
    handler: async (request) => {
      const place = await placeOf(needs, request);
      const { channel } = place;
      // An earlier attempt has done it, and was killed before it could answer.
      const row = request.idempotent?.effective
        ? await channels.find(place)
        : await channels.restart(place, changeNote(request, { type: 'channel.restarted', data: { channel } }));
      if (row === null) throw noChannel(channel);
      return channelRecord(row, needs.fingerprints);
    },
  });
}

function testRoute(app: App, needs: ChannelNeeds): void {
  const { channels } = needs;
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/channels/:channel/test',
    schema: {
      operationId: 'testChannel',
      tags,
      summary: 'Test a channel',
      description:
        'Asks the platform whether the stored credentials are good. With `conversation` a test message is sent there: somebody must have written in it before.',
      params: ChannelParams,
      body: TestChannel,
      response: { 200: { ...ChannelTest, 'x-response-description': 'What the platform said.' } },
    },
    config: changeConfig,
    handler: async (request, reply) => {
      const place = await placeOf(needs, request);
      const { conversation = null } = request.body;
      const { row, identity, reason, isQueued } = await channels.test(place, conversation, clientGone(reply));
      return {
        object: 'channel_test' as const,
        channel: place.channel,
        ok: reason === null,
        status: row.status,
        identity: identity && { id: identity.id, name: identity.name },
        reason: reason && { code: reason.code, message: reason.message },
        message_queued: isQueued,
      };
    },
  });
}
