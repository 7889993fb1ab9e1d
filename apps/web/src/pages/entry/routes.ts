import { createRoute, redirect } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { entryRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { destinationOf, safePath, signInPath } from '../../paths.ts';
import { queries } from '../../queries.ts';

const signInRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: signInPath,
  validateSearch: (search): { to?: string } => (typeof search['to'] === 'string' ? { to: search['to'] } : {}),
  beforeLoad: async ({ context, search }) => {
    // It asks the server, because the cache may still have the session that has just ended.
    const session = await api.session().catch(() => undefined);
    if (session === undefined) return;
    context.queryClient.setQueryData(queries.session.queryKey, session);
    throw redirect({ ...destinationOf(safePath(search.to)), replace: true });
  },
  component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
});
const registerRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: '/account/register',
  component: lazyPage(() => import('./register-page.tsx'), 'RegisterPage'),
});
const setupRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: '/account/setup',
  component: lazyPage(() => import('./link-pages.tsx'), 'SetupPage'),
});
const joinRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: '/account/join',
  component: lazyPage(() => import('./link-pages.tsx'), 'JoinPage'),
});
const resetRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: '/account/reset',
  component: lazyPage(() => import('./reset-page.tsx'), 'ResetPage'),
});

/** Pages that lead to an account, and need none. */
export const entryRoutes = [signInRoute, registerRoute, setupRoute, joinRoute, resetRoute] as const;
