import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { queries } from '../../queries.ts';

export const keysRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/keys',
  staticData: { nav: { group: 'Account', label: 'API Keys', Icon: KeyRound } },
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.keys),
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
});
