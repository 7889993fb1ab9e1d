import { createRoute } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const peopleRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/people',
  staticData: { nav: { group: 'Account', label: 'People', Icon: Users, only: 'owner' } },
  component: lazyPage(() => import('./people-page.tsx'), 'PeoplePage'),
});
