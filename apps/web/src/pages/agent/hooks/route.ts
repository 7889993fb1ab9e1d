import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { Webhook } from 'lucide-react';
import { agentRoute } from '../route.ts';

interface HooksSearch {
  /** The hook that is looked at. */
  readonly hook?: string;
  readonly form?: 'add';
}

export const hooksRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'hooks',
  staticData: { nav: { group: 'Connect', label: 'Hooks', Icon: Webhook } },
  validateSearch: ({ hook, form }): HooksSearch => ({
    ...(typeof hook === 'string' ? { hook } : {}),
    ...(form === 'add' ? { form } : {}),
  }),
  component: lazyPage(() => import('./hooks-page.tsx'), 'HooksPage'),
});
