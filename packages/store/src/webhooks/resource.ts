import { webhookSecretContext } from '@lodge/ports';
import type { StoredResource } from '../database/stored-resource.ts';

export const webhookTables = {
  topics: ['webhook_attempted', 'webhook_changed'],
  sealed: [
    { table: 'webhooks', column: 'sealed_secret', key: ['id'], context: webhookSecretContext },
    { table: 'webhooks', column: 'sealed_previous', key: ['id'], context: webhookSecretContext },
  ],
  columns: {
    'webhook_deliveries.state': 'ports.DeliveryState',
  },
} as const satisfies StoredResource;
