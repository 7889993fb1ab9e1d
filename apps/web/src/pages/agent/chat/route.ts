import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { MessageCircle } from 'lucide-react';
import { agentRoute } from '../route.ts';

interface ChatSearch {
  /** The conversation that is open; none begins one. */
  readonly conversation?: string;
  /** The channel of the conversation, where it is one of a channel. */
  readonly channel?: string;
  /** The member that a new conversation is for. */
  readonly member?: string;
}

const text = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 256;

export const chatRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'chat',
  staticData: { nav: { group: 'Talk', label: 'Chat', Icon: MessageCircle } },
  validateSearch: ({ conversation, channel, member }): ChatSearch => ({
    ...(text(conversation) && { conversation }),
    ...(text(channel) && { channel }),
    ...(text(member) && { member }),
  }),
  component: lazyPage(() => import('./chat-page.tsx'), 'ChatPage'),
});
