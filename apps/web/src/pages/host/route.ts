import { createRoute } from '@tanstack/react-router';
import { Server } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { hostQuery } from './queries.ts';

export const hostRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/host',
  staticData: { nav: { group: 'Service', label: 'Host', Icon: Server, only: 'owner' } },
  validateSearch: ({ by }: Readonly<Record<string, unknown>>): { by?: 'cost' } => (by === 'cost' ? { by } : {}),
  loader: ({ context }) => void context.queryClient.prefetchQuery(hostQuery),
  component: lazyPage(() => import('./host-page.tsx'), 'HostPage'),
});
