import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { Users } from 'lucide-react';
import { agentRoute } from '../route.ts';

export const membersRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'members',
  staticData: { nav: { group: 'Connect', label: 'Members', Icon: Users } },
  component: lazyPage(() => import('./members-page.tsx'), 'MembersPage'),
});
