import { createRoute } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { queries } from '../../queries.ts';
import { reportSearchOf } from './report/search.ts';

export const usageRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/usage',
  staticData: { nav: { group: 'Account', label: 'Usage & limits', Icon: Gauge } },
  validateSearch: reportSearchOf,
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.spend),
  component: lazyPage(() => import('./usage-page.tsx'), 'UsagePage'),
});
