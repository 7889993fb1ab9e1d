import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../frame/lazy-page.ts';
import { Settings } from 'lucide-react';
import { agentRoute } from '../route.ts';

export const settingsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'settings',
  staticData: { nav: { group: 'Agent', label: 'Settings', Icon: Settings } },
  component: lazyPage(() => import('./settings-page.tsx'), 'SettingsPage'),
});
