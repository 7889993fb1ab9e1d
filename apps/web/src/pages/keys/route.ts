import { createRoute } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { queries } from '../../queries.ts';

export const keysRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/keys',
  staticData: { nav: { group: 'Account', label: 'API Keys', Icon: KeyRound } },
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.keys),
  component: lazyPage(() => import('./keys-page.tsx'), 'KeysPage'),
});
