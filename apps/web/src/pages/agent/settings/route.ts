import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Settings } from 'lucide-react';
import { agentRoute } from '../route.ts';

export const settingsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'settings',
  staticData: { nav: { group: 'Agent', label: 'Settings', Icon: Settings } },
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
});
