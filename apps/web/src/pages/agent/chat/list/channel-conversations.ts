/** Conversations of people on the agent's channels, made of its messages. */
import { queryOptions } from '@tanstack/react-query';
import type { ChannelMessage } from '@lodge/sdk';
import { visibleName } from '../../../../components/words/visible-text.ts';
import { list, lodge } from '../../../../api.ts';

/** The newest messages; older ones are on the page Messages. */
const newest = 100;

export const channelMessagesQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agent', agentId, 'messages', 'chats'],
    queryFn: () => list(lodge.messages.list(agentId, { limit: newest, content: true })),
  });

export interface ChannelConversation {
  readonly key: string;
  readonly channel: ChannelMessage['channel'];
  readonly id: string;
  readonly kind: ChannelMessage['conversation']['kind'];
  /** The name of the last sender; their own text. */
  readonly name: string;
  readonly at: string;
  /** Oldest first. */
  readonly messages: readonly ChannelMessage[];
}

export const keyOf = (channel: string, id: string): string => `${channel}:${id}`;

export function conversationsOf(messages: readonly ChannelMessage[]): readonly ChannelConversation[] {
  const groups = Map.groupBy(
    messages.filter(({ state }) => state !== 'refused'),
    ({ channel, conversation }) => keyOf(channel, conversation.id),
  );
  return [...groups].map(([key, all]) => {
    const [last] = all as [ChannelMessage];
    const { channel, conversation, sender, received_at: at } = last;
    const { id, kind } = conversation;
    return {
      key,
      channel,
      id,
      kind,
      name: visibleName(sender.name.slice(0, 100)) || sender.id,
      at,
      messages: all.toReversed(),
    };
  });
}
