import { createRoute } from '@tanstack/react-router';
import { ShieldCheck } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { queries } from '../../queries.ts';

export const securityRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/security',
  staticData: { nav: { group: 'Account', label: 'Security', Icon: ShieldCheck } },
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.sessions),
  component: lazyPage(() => import('./security-page.tsx'), 'SecurityPage'),
});
