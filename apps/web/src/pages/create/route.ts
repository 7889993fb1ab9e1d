import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { channelNames } from '../agent/channels/channel-names.ts';
import type { ChannelName } from '../agent/channels/channel-names.ts';
import { queries } from '../../queries.ts';
import { providersQuery, sizesQuery } from './queries.ts';

export const createAgentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents/new',
  /** `made`: the agent that was just made, while it is not running yet. `pair`: its channel that is paired then. */
  validateSearch: (search): { made?: string; pair?: ChannelName } => {
    const { made, pair } = search;
    const channel = channelNames.find((name) => name === pair);
    if (typeof made !== 'string' || !/^[a-z][a-z0-9]{11}$/.test(made)) return {};
    return { made, ...(channel !== undefined && { pair: channel }) };
  },
  loader: ({ context: { queryClient } }) => {
    for (const query of [providersQuery, sizesQuery]) void queryClient.prefetchQuery(query as typeof sizesQuery);
    void queryClient.prefetchQuery(queries.limits);
  },
  component: lazyPage(() => import('./create-page.tsx'), 'CreatePage'),
});
