/** Webhooks: use-cases over the store, and the loop that delivers. */
import { randomUUID } from 'node:crypto';
import { WebhookDelivering, createWebhooks } from '@lodge/engine';
import type { Webhooks } from '@lodge/engine';
import type { Log, SecretBox } from '@lodge/ports';
import type { Store } from '@lodge/store';
import { createWebhookSender, makeWebhookSecret } from '@lodge/webhooks';
import type { Config } from './config/config.ts';
import { version } from './version.ts';

interface Given {
  readonly store: Store;
  readonly secrets: SecretBox;
  readonly log: Log;
  /** Names this host's control plane. */
  readonly holder: string;
}

export function openWebhooks(
  config: Config,
  { store, secrets, log, holder }: Given,
): { readonly webhooks: Webhooks; readonly delivering: WebhookDelivering } {
  const privateAddresses = config.webhookAddresses === 'any';
  const sender = createWebhookSender({
    privateAddresses,
    egressProxy: config.egressProxy,
    userAgent: `Lodge/${version}`,
  });
  return {
    webhooks: createWebhooks({
      database: store.database,
      onAttempt: (listener) => store.changes.on('webhook_attempted', listener),
      secrets,
      makeId: randomUUID,
      makeSecret: makeWebhookSecret,
      maxPerAccount: config.webhooksPerAccount,
      privateAddresses,
    }),
    delivering: new WebhookDelivering({
      database: store.database,
      onChange: (listener) => store.changes.on('webhook_changed', listener),
      events: store.events,
      sender,
      secrets,
      log,
      // Two servers of one host have leases of their own.
      holder: `${holder}/${randomUUID()}`,
    }),
  };
}
