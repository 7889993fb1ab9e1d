import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { agentRoute } from '../route.ts';

export const membersRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'members',
  staticData: { nav: { group: 'Around it', label: 'Members', Icon: Users } },
  component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
});
