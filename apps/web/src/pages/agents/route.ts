import { createRoute } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { allAgents } from './queries.ts';
import { viewOf } from './view.ts';

export const agentsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents',
  staticData: { nav: { label: 'Agents', Icon: Bot } },
  validateSearch: viewOf,
  loader: ({ context }) => void context.queryClient.prefetchQuery({ ...allAgents, staleTime: Infinity }),
  component: lazyPage(() => import('./agents-page.tsx'), 'AgentsPage'),
});
