import { createRoute } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { auditSearchOf } from './search.ts';

export const auditRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/audit',
  staticData: { nav: { group: 'Account', label: 'Audit log', Icon: ScrollText } },
  validateSearch: auditSearchOf,
  component: lazyPage(() => import('./audit-page.tsx'), 'AuditPage'),
});
