import { createRoute } from '@tanstack/react-router';
import { SlidersHorizontal } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { queries } from '../../queries.ts';

export const limitsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/limits',
  staticData: { nav: { group: 'Account', label: 'Quotas & rates', Icon: SlidersHorizontal } },
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.limits),
  component: lazyPage(() => import('./limits-page.tsx'), 'LimitsPage'),
});
