import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
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
  component: lazyRouteComponent(() => import('./messages-page.tsx'), 'MessagesPage'),
});
