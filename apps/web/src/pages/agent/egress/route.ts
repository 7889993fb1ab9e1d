import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Shield } from 'lucide-react';
import { agentRoute } from '../route.ts';

export const egressRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'egress',
  staticData: { nav: { group: 'Around it', label: 'Egress', Icon: Shield } },
  component: lazyRouteComponent(() => import('./egress-page.tsx'), 'EgressPage'),
});
