import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { Plug } from 'lucide-react';
import { agentRoute } from '../route.ts';

interface ConnectionsSearch {
  /** The connection that is looked at, by its name. */
  readonly connection?: string;
  readonly form?: 'add' | 'edit';
}

export const connectionsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'connections',
  staticData: { nav: { group: 'Connect', label: 'Connections', Icon: Plug } },
  validateSearch: ({ connection, form }): ConnectionsSearch => ({
    ...(typeof connection === 'string' ? { connection } : {}),
    ...(form === 'add' || form === 'edit' ? { form } : {}),
  }),
  component: lazyPage(() => import('./connections-page.tsx'), 'ConnectionsPage'),
});
