import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { CalendarClock } from 'lucide-react';
import { agentRoute } from '../route.ts';

interface SchedulesSearch {
  /** The schedule that is looked at. */
  readonly schedule?: string;
  /** The action on it; `add` is without one. */
  readonly form?: 'add' | 'edit';
}

export const schedulesRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'schedules',
  staticData: { nav: { group: 'Connect', label: 'Schedules', Icon: CalendarClock } },
  validateSearch: ({ schedule, form }): SchedulesSearch => ({
    ...(typeof schedule === 'string' ? { schedule } : {}),
    ...(form === 'add' || form === 'edit' ? { form } : {}),
  }),
  component: lazyPage(() => import('./schedules-page.tsx'), 'SchedulesPage'),
});
