import { createRoute } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { webhookQuery, webhooksQuery } from './queries.ts';
import type { DeliveryState } from './queries.ts';

const states: readonly string[] = ['pending', 'delivered', 'failed'] satisfies readonly DeliveryState[];

export const webhooksRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/webhooks',
  staticData: { nav: { group: 'Account', label: 'Webhooks', Icon: Webhook } },
  loader: ({ context }) => void context.queryClient.prefetchQuery(webhooksQuery),
  component: lazyPage(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
});

/** One webhook and its deliveries; in the address is which of them. */
export const webhookRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/webhooks/$webhookId',
  validateSearch: ({ state }): { readonly state?: DeliveryState } =>
    typeof state === 'string' && states.includes(state) ? { state: state as DeliveryState } : {},
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(webhookQuery(params.webhookId)),
  component: lazyPage(() => import('./webhook-page.tsx'), 'WebhookPage'),
});
