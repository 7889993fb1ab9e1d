import { randomUUID } from 'node:crypto';
import { createWebhooks } from '@lodge/engine';
import { makeWebhookSecret } from '@lodge/webhooks';
import { deliveryRoutes } from '../http/routes/webhooks/deliveries.ts';
import { webhookRoutes } from '../http/routes/webhooks/webhooks.ts';
import type { Core, Resource } from './resource.ts';

export const webhooks = {
  open: ({ database, changes, secrets, config }: Core) =>
    createWebhooks({
      database,
      secrets,
      onAttempt: (listener) => changes.on('webhook_attempted', listener),
      makeId: randomUUID,
      makeSecret: makeWebhookSecret,
      maxPerAccount: config.webhooksPerAccount,
      privateAddresses: config.webhookAddresses === 'any',
    }),
  routes: [webhookRoutes, deliveryRoutes],
} as const satisfies Resource;
