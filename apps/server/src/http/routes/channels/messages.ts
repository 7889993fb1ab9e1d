import {
  AgentParams,
  ChannelMessage,
  ChannelMessageList,
  ListMessagesQuery,
  MessageParams,
  NoBody,
} from '@lodge/contract';
import { channelNamed } from '@lodge/domain';
import type { ChannelMessage as MessageRow } from '@lodge/store/channels';
import { checkAgentId } from '../../reply/agent-record.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { pageReply } from '../../reply/page.ts';
import { toWire } from '../../reply/to-wire.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import { tags } from './shared.ts';
import type { ChannelNeeds } from './shared.ts';

interface Needs extends ChannelNeeds {
  readonly cursors: Cursors;
}

/** `GET /v1/agents/:id/messages` and `POST /v1/agents/:id/messages/:message/retry`. */
export function messageRoutes(app: App, needs: Needs): void {
  listRoute(app, needs);
  retryRoute(app, needs);
}

function listRoute(app: App, { channels, cursors }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/messages',
    schema: {
      operationId: 'listMessages',
      tags,
      summary: 'List the messages of an agent on its channels',
      description: 'Newest first, and without what was said unless `content=true`.',
      params: AgentParams,
      querystring: ListMessagesQuery,
      response: { 200: { ...ChannelMessageList, 'x-response-description': 'A page of messages.' } },
    },
    config: { scopes: ['agents:read'], errors: ['agent_not_found'] },
    handler: async (request) => {
      const { id } = request.params;
      checkAgentId(id);
      const { limit = 20, cursor, channel, state, content } = request.query;
      const { accountId } = request.principal;
      const kind = `messages:${id}`;
      const before = cursor === undefined ? undefined : cursors.open(kind, accountId, cursor);
      const rows = await channels.messages({
        accountId,
        agentId: id,
        limit: limit + 1,
        ...(channel !== undefined && { channel: channelNamed(channel)! }),
        ...(state !== undefined && { state }),
        ...(before !== undefined && { before }),
      });
      return pageReply(rows, {
        limit,
        record: (row) => messageRecord(row, content === 'true'),
        cursorOf: (last) => cursors.seal(kind, accountId, last.id),
      });
    },
  });
}

function retryRoute(app: App, { channels }: Needs): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/messages/:message/retry',
    schema: {
      operationId: 'retryMessage',
      tags,
      summary: 'Try a message again',
      description:
        'One that failed, or whose outcome is unknown: the turn is made anew, or what of its answer was not sent is sent. A part whose outcome is unknown may arrive twice.',
      params: MessageParams,
      body: NoBody,
      response: { 200: { ...ChannelMessage, 'x-response-description': 'The message, taken up again.' } },
    },
    config: {
      scopes: ['agents:write'],
      errors: ['agent_not_found', 'message_not_found', 'message_not_retryable'],
    },
    handler: async (request) => {
      const { id, message } = request.params;
      checkAgentId(id);
      return messageRecord(await channels.retry(request.principal.accountId, id, message, actorNote(request)), false);
    },
  });
}

const messageRecord = (row: MessageRow, withContent: boolean): ChannelMessage => ({
  ...toWire(ChannelMessage, {
    ...row,
    conversation: { id: row.conversationId, kind: row.conversationKind },
    sender: { id: row.senderId, name: row.senderName },
    text: null,
    answer: null,
  }),
  ...(withContent && { text: row.text, answer: row.answer }),
});
