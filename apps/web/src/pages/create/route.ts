import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { limitsQuery } from '../limits/queries.ts';
import { providersQuery, sizesQuery } from './queries.ts';

export const createAgentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents/new',
  /** `made`: the agent that was just made, while it is not running yet. */
  validateSearch: (search): { made?: string } =>
    typeof search['made'] === 'string' && /^[a-z][a-z0-9]{11}$/.test(search['made']) ? { made: search['made'] } : {},
  loader: ({ context: { queryClient } }) => {
    for (const query of [providersQuery, sizesQuery]) void queryClient.prefetchQuery(query as typeof sizesQuery);
    void queryClient.prefetchQuery(limitsQuery);
  },
  component: lazyPage(() => import('./create-page.tsx'), 'CreatePage'),
});
