import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { MessagesSquare } from 'lucide-react';
import { agentRoute } from '../route.ts';
import { channelNames } from './channel-names.ts';
import type { ChannelName } from './channel-names.ts';

export const channelsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'channels',
  staticData: { nav: { group: 'Connect', label: 'Channels', Icon: MessagesSquare } },
  validateSearch: (search): { channel?: ChannelName } => {
    const channel = channelNames.find((name) => name === search['channel']);
    return channel === undefined ? {} : { channel };
  },
  component: lazyPage(() => import('./channels-page.tsx'), 'ChannelsPage'),
});
