/** All pages: the navigation is made of what their routes say. */
import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { focusHeading } from './components/form/focus.ts';
import { appRoute, entryRoute, rootRoute } from './frame/app-route.ts';
import { RouteError } from './frame/route-states.tsx';
import { entryRoutes } from './pages/entry/routes.ts';
import { appPages } from './pages/routes.ts';
import { parseSearch, stringifySearch } from './paths.ts';

const routeTree = rootRoute.addChildren([entryRoute.addChildren(entryRoutes), appRoute.addChildren(appPages)]);

export function createAppRouter(queryClient: QueryClient) {
  const router = createRouter({
    routeTree,
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
