/** The routes that all pages hang on: the root, the entry pages, and the signed-in frame. A page's own route names one as its parent. */
import type { QueryClient } from '@tanstack/react-query';
import { Outlet, createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { hasCode } from '../api.ts';
import { signInPath, signedOutPath } from '../paths.ts';
import { queries } from '../queries.ts';
import { AppFrame, AppFrameSkeleton } from './app-frame.tsx';
import { EntryFrame } from './entry-frame.tsx';
import { NotFoundPage } from './route-states.tsx';

export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

/** Pages for people who are not signed in. */
export const entryRoute = createRoute({ getParentRoute: () => rootRoute, id: 'entry', component: EntryFrame });

/** Pages for signed-in people: the frame, and a redirect to the sign-in page for everybody else. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  component: AppFrame,
  pendingComponent: AppFrameSkeleton,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.ensureQueryData(queries.session);
    } catch (error) {
      if (!hasCode(error, 'not_signed_in')) throw error;
      throw redirect({ to: signInPath, search: signedOutPath(location.pathname + location.searchStr), replace: true });
    }
  },
});
