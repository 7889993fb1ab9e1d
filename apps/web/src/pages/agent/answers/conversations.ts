import { queryOptions } from '@tanstack/react-query';
import type { ChannelMessage } from '@lodge/sdk';
import { list, lodge } from '../../../api.ts';

export interface Conversation {
  readonly channel: ChannelMessage['channel'];
  readonly id: string;
  readonly kind: 'direct' | 'group';
  /** The last writer there, by their own name. */
  readonly lastSender: string;
}

/** Conversations that wrote to the agent lately, newest first; of one channel, where one is given. */
export const conversationsQuery = (agentId: string, channel?: ChannelMessage['channel']) =>
  queryOptions({
    queryKey: ['agent', agentId, 'messages', 'conversations', channel ?? 'all'],
    queryFn: async (): Promise<readonly Conversation[]> => {
      const query = { limit: 100, ...(channel === undefined ? {} : { channel }) };
      const messages = await list(lodge.messages.list(agentId, query));
      const found = new Map<string, Conversation>();
      for (const message of messages) {
        const { id, kind } = message.conversation;
        const key = `${message.channel} ${id}`;
        // A stranger who was refused is nobody to write to.
        if (found.has(key) || message.state === 'refused') continue;
        found.set(key, { channel: message.channel, id, kind, lastSender: message.sender.name });
      }
      return [...found.values()];
    },
  });
