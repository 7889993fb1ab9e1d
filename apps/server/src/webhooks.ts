/** The loop that delivers for webhooks. */
import { randomUUID } from 'node:crypto';
import { WebhookDelivering } from '@lodge/engine';
import type { Log, SecretBox } from '@lodge/ports';
import type { Store } from '@lodge/store';
import { createWebhookSender } from '@lodge/webhooks';
import type { Config } from './config/config.ts';
import { version } from './version.ts';

interface Given {
  readonly store: Store;
  readonly secrets: SecretBox;
  readonly log: Log;
  /** Names this host's control plane. */
  readonly holder: string;
}

export function openDelivering(config: Config, { store, secrets, log, holder }: Given): WebhookDelivering {
  const sender = createWebhookSender({
    privateAddresses: config.webhookAddresses === 'any',
    egressProxy: config.egressProxy,
    userAgent: `Lodge/${version}`,
  });
  return new WebhookDelivering({
    database: store.database,
    onChange: (listener) => store.changes.on('webhook_changed', listener),
    events: store.events,
    sender,
    secrets,
    log,
    // Two servers of one host have leases of their own.
    holder: `${holder}/${randomUUID()}`,
  });
}
