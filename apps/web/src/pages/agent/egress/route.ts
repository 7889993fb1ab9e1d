import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { Shield } from 'lucide-react';
import { agentRoute } from '../route.ts';

export const egressRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'egress',
  staticData: { nav: { group: 'Connect', label: 'Egress', Icon: Shield } },
  component: lazyPage(() => import('./egress-page.tsx'), 'EgressPage'),
});
