import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ChartColumn } from 'lucide-react';
import { reportSearchOf } from '../../usage/report/search.ts';
import { agentRoute } from '../route.ts';

export const agentUsageRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'usage',
  staticData: { nav: { group: 'Agent', label: 'Usage', Icon: ChartColumn } },
  validateSearch: reportSearchOf,
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'AgentUsagePage'),
});
