/**
 * Webhooks over a real store, whose receivers are on loopback. They stay beside `openLodge`: tests of deliveries set bounds and
 * retries, and stop one of several deliverers.
 */
import { randomUUID } from 'node:crypto';
import { WebhookDelivering, createWebhooks } from '@lodge/engine';
import type { DeliveringDeps, Webhooks } from '@lodge/engine';
import type { Log, SecretBox } from '@lodge/ports';
import type { Store } from '@lodge/store';
import { createWebhookSender, makeWebhookSecret } from '@lodge/webhooks';

export interface WebhooksOver {
  readonly webhooks: Webhooks;
  /** Not started. */
  readonly delivering: WebhookDelivering;
}

export function webhooksOver(
  store: Store,
  {
    secrets,
    log,
    ...more
  }: { readonly secrets: SecretBox; readonly log: Log } & Pick<DeliveringDeps, 'bounds' | 'retries'>,
): WebhooksOver {
  const sender = createWebhookSender({
    privateAddresses: true,
    egressProxy: null,
    userAgent: 'Lodge/test',
    timeoutMs: 1_000,
  });
  return {
    webhooks: createWebhooks({
      database: store.database,
      onAttempt: (listener) => store.changes.on('webhook_attempted', listener),
      secrets,
      makeId: randomUUID,
      makeSecret: makeWebhookSecret,
      maxPerAccount: 20,
      privateAddresses: true,
    }),
    delivering: new WebhookDelivering({
      database: store.database,
      onChange: (listener) => store.changes.on('webhook_changed', listener),
      events: store.events,
      sender,
      secrets,
      log,
      holder: randomUUID(),
      ...more,
    }),
  };
}
