import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { Activity } from 'lucide-react';
import { agentRoute } from '../route.ts';
import { isKind } from './kinds.ts';
import type { ActivityKind } from './kinds.ts';

interface ActivitySearch {
  readonly kind?: ActivityKind;
  /** The model call that is open. */
  readonly call?: string;
}

export const activityRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'activity',
  staticData: { nav: { group: 'Talk', label: 'Activity', Icon: Activity } },
  validateSearch: ({ kind, call }): ActivitySearch => ({
    ...(isKind(kind) && { kind }),
    ...(typeof call === 'string' && call !== '' && call.length <= 100 && { call }),
  }),
  component: lazyPage(() => import('./activity-page.tsx'), 'ActivityPage'),
});
