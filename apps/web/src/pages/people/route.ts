import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';

export const peopleRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/people',
  staticData: { nav: { group: 'Account', label: 'People', Icon: Users, only: 'owner' } },
  component: lazyRouteComponent(() => import('./people-page.tsx'), 'PeoplePage'),
});
