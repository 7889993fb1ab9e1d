/** All pages. A new page is its folder and its route's line in the tree; the navigation is made of what the routes say. */
import type { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { focusHeading } from './components/form/focus.ts';
import { appRoute, entryRoute, rootRoute } from './frame/app-route.ts';
import { RouteError } from './frame/route-states.tsx';
import { parseSearch, stringifySearch } from './paths.ts';
import { activityRoute } from './pages/agent/activity/route.ts';
import { channelsRoute } from './pages/agent/channels/route.ts';
import { connectionsRoute } from './pages/agent/connections/route.ts';
import { egressRoute } from './pages/agent/egress/route.ts';
import { hooksRoute } from './pages/agent/hooks/route.ts';
import { membersRoute } from './pages/agent/members/route.ts';
import { messagesRoute } from './pages/agent/messages/route.ts';
import { portsRoute } from './pages/agent/ports/route.ts';
import { schedulesRoute } from './pages/agent/schedules/route.ts';
import { chatRoute } from './pages/agent/chat/route.ts';
import { filesRoute } from './pages/agent/files/route.ts';
import { logsRoute } from './pages/agent/logs/route.ts';
import { agentsRoute } from './pages/agents/route.ts';
import { createAgentRoute } from './pages/create/route.ts';
import { agentIndexRoute, agentRoute } from './pages/agent/route.ts';
import { terminalRoute } from './pages/agent/terminal/route.ts';
import { settingsRoute } from './pages/agent/settings/route.ts';
import { agentUsageRoute } from './pages/agent/usage/route.ts';
import { auditRoute } from './pages/audit/route.ts';
import { consentRoutes } from './pages/consent/routes.ts';
import { entryRoutes } from './pages/entry/routes.ts';
import { homeRoute } from './pages/home/route.ts';
import { hostRoute } from './pages/host/route.ts';
import { keysRoute } from './pages/keys/route.ts';
import { limitsRoute } from './pages/limits/route.ts';
import { peopleRoute } from './pages/people/route.ts';
import { securityRoute } from './pages/security/route.ts';
import { usageRoute } from './pages/usage/route.ts';
import { webhookRoute, webhooksRoute } from './pages/webhooks/route.ts';

/** The owner's link and the guides of before lead here. */
const accountRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account',
  beforeLoad: () => {
    throw redirect({ to: '/', replace: true });
  },
});

/** The order is that of the navigation. */
const routeTree = rootRoute.addChildren([
  entryRoute.addChildren(entryRoutes),
  appRoute.addChildren([
    homeRoute,
    agentsRoute,
    createAgentRoute,
    agentRoute.addChildren([
      agentIndexRoute,
      chatRoute,
      activityRoute,
      messagesRoute,
      logsRoute,
      filesRoute,
      terminalRoute,
      membersRoute,
      channelsRoute,
      schedulesRoute,
      connectionsRoute,
      hooksRoute,
      egressRoute,
      portsRoute,
      agentUsageRoute,
      settingsRoute,
    ]),
    accountRoute,
    usageRoute,
    limitsRoute,
    keysRoute,
    webhooksRoute,
    webhookRoute,
    auditRoute,
    securityRoute,
    peopleRoute,
    hostRoute,
    ...consentRoutes,
  ]),
]);

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
