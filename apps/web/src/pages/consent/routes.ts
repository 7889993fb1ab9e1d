import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { authorizationOf } from '../../paths.ts';

const deviceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/device',
  validateSearch: (search): { user_code?: string } =>
    typeof search['user_code'] === 'string' ? { user_code: search['user_code'] } : {},
  component: lazyPage(() => import('./device-page.tsx'), 'DevicePage'),
});

const authorizeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/authorize',
  validateSearch: authorizationOf,
  component: lazyPage(() => import('./authorize-page.tsx'), 'AuthorizePage'),
});

/** Where a person agrees to what a machine or program asks for. */
export const consentRoutes = [deviceRoute, authorizeRoute] as const;
