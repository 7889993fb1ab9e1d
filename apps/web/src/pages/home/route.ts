import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { House } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';

export const homeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  staticData: { nav: { label: 'Home', Icon: House } },
  component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
});
