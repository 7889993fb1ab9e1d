import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { EthernetPort } from 'lucide-react';
import { agentRoute } from '../route.ts';

export const portsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'ports',
  staticData: { nav: { group: 'Connect', label: 'Ports', Icon: EthernetPort } },
  component: lazyPage(() => import('./ports-page.tsx'), 'PortsPage'),
});
