import { createRoute } from '@tanstack/react-router';
import { House } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const homeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  staticData: { nav: { label: 'Home', Icon: House } },
  component: lazyPage(() => import('./home-page.tsx'), 'HomePage'),
});
