import type { QueryClient } from '@tanstack/react-query';
import {
  Outlet,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { api, hasCode } from './api.ts';
import { focusHeading } from './components/focus.ts';
import { AppFrame, AppFrameSkeleton } from './frame/app-frame.tsx';
import { EntryFrame } from './frame/entry-frame.tsx';
import { NotFoundPage, RouteError } from './frame/route-states.tsx';
import { authorizationOf, destinationOf, parseSearch, safePath, signedOutPath, stringifySearch } from './paths.ts';
import { queries } from './queries.ts';

const root = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

/** Pages for people who are not signed in. */
const entry = createRoute({ getParentRoute: () => root, id: 'entry', component: EntryFrame });

/** Pages for signed-in people: the frame, and a redirect to the sign-in page for everybody else. */
const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: AppFrame,
  pendingComponent: AppFrameSkeleton,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.ensureQueryData(queries.session);
    } catch (error) {
      if (!hasCode(error, 'not_signed_in')) throw error;
      throw redirect({ to: '/sign-in', search: signedOutPath(location.pathname + location.searchStr), replace: true });
    }
  },
});

const signIn = createRoute({
  getParentRoute: () => entry,
  path: '/sign-in',
  validateSearch: (search): { to?: string } => (typeof search['to'] === 'string' ? { to: search['to'] } : {}),
  beforeLoad: async ({ context, search }) => {
    // It asks the server, because the cache may still have the session that has just ended.
    const session = await api.session().catch(() => undefined);
    if (session === undefined) return;
    context.queryClient.setQueryData(queries.session.queryKey, session);
    throw redirect({ ...destinationOf(safePath(search.to)), replace: true });
  },
  component: lazyRouteComponent(() => import('./pages/entry/sign-in-page.tsx'), 'SignInPage'),
});
const register = createRoute({
  getParentRoute: () => entry,
  path: '/register',
  component: lazyRouteComponent(() => import('./pages/entry/register-page.tsx'), 'RegisterPage'),
});
const setup = createRoute({
  getParentRoute: () => entry,
  path: '/setup',
  component: lazyRouteComponent(() => import('./pages/entry/link-pages.tsx'), 'SetupPage'),
});
const join = createRoute({
  getParentRoute: () => entry,
  path: '/join',
  component: lazyRouteComponent(() => import('./pages/entry/link-pages.tsx'), 'JoinPage'),
});
const reset = createRoute({
  getParentRoute: () => entry,
  path: '/reset',
  component: lazyRouteComponent(() => import('./pages/entry/reset-page.tsx'), 'ResetPage'),
});

const index = createRoute({
  getParentRoute: () => app,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/keys', replace: true });
  },
});
const keys = createRoute({
  getParentRoute: () => app,
  path: '/keys',
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.keys),
  component: lazyRouteComponent(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
});
const usage = createRoute({
  getParentRoute: () => app,
  path: '/usage',
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.spend),
  component: lazyRouteComponent(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
});
const security = createRoute({
  getParentRoute: () => app,
  path: '/security',
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.sessions),
  component: lazyRouteComponent(() => import('./pages/security/security-page.tsx'), 'SecurityPage'),
});
const people = createRoute({
  getParentRoute: () => app,
  path: '/people',
  component: lazyRouteComponent(() => import('./pages/people/people-page.tsx'), 'PeoplePage'),
});

const device = createRoute({
  getParentRoute: () => app,
  path: '/device',
  validateSearch: (search): { user_code?: string } =>
    typeof search['user_code'] === 'string' ? { user_code: search['user_code'] } : {},
  component: lazyRouteComponent(() => import('./pages/consent/device-page.tsx'), 'DevicePage'),
});

const authorize = createRoute({
  getParentRoute: () => app,
  path: '/authorize',
  validateSearch: authorizationOf,
  component: lazyRouteComponent(() => import('./pages/consent/authorize-page.tsx'), 'AuthorizePage'),
});

const routeTree = root.addChildren([
  entry.addChildren([signIn, register, setup, join, reset]),
  app.addChildren([index, keys, usage, security, people, device, authorize]),
]);

export function createAppRouter(queryClient: QueryClient) {
  const router = createRouter({
    routeTree,
    basepath: '/account',
    parseSearch,
    stringifySearch,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPendingMs: 200,
    defaultErrorComponent: RouteError,
    scrollRestoration: true,
  });
  // Another page is read out from its heading on, as after a page load.
  router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
    const inField = document.activeElement instanceof HTMLInputElement;
    if (fromLocation !== undefined && pathChanged && !inField) focusHeading();
  });
  return router;
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
