import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { ChartColumn } from 'lucide-react';
import { reportSearchOf } from '../../usage/report/search.ts';
import { agentRoute } from '../route.ts';

export const agentUsageRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'usage',
  staticData: { nav: { group: 'Agent', label: 'Usage', Icon: ChartColumn } },
  validateSearch: reportSearchOf,
  component: lazyPage(() => import('./usage-page.tsx'), 'AgentUsagePage'),
});
