import { createRoute, redirect } from '@tanstack/react-router';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pathTo } from '../../paths.ts';
import { agentQuery } from './queries.ts';

/** All that there is of one agent: its header, and its pages below. */
export const agentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents/$agentId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(agentQuery(params.agentId)),
  component: lazyPage(() => import('./agent-frame.tsx'), 'AgentFrame'),
  errorComponent: lazyPage(() => import('./agent-missing.tsx'), 'AgentMissing'),
});

export const agentIndexRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: pathTo('/agents/$agentId/chat', params.agentId), replace: true });
  },
});
