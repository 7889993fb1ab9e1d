import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { EthernetPort } from 'lucide-react';
import { agentRoute } from '../route.ts';

export const portsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'ports',
  staticData: { nav: { group: 'Around it', label: 'Ports', Icon: EthernetPort } },
  component: lazyRouteComponent(() => import('./ports-page.tsx'), 'PortsPage'),
});
