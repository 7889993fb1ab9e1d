import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { Inbox } from 'lucide-react';
import { agentRoute } from '../route.ts';
import { isChannel, isState } from './filters.ts';
import type { MessageFilters } from './filters.ts';

export const messagesRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'messages',
  staticData: { nav: { group: 'Talk', label: 'Messages', Icon: Inbox } },
  validateSearch: ({ channel, state }): MessageFilters => ({
    ...(isChannel(channel) && { channel }),
    ...(isState(state) && { state }),
  }),
  component: lazyPage(() => import('./messages-page.tsx'), 'MessagesPage'),
});
