/** Delivers to webhooks, as a server does. */
import { createSecretBox } from '@lodge/access';
import { openStore } from '@lodge/store';
import { webhooksOver } from '@lodge/testkit/webhooks';

export interface DeliveriesJob {
  readonly of: 'webhooks';
  readonly connectionString: string;
}

export const masterKey = Buffer.alloc(32, 5);
/** A killed process's leases end soon, and a delivery that failed is tried again soon. */
const bounds = { leaseMs: 1_000, lookEveryMs: 100 };
const retries = { waitsMs: [50, 100, 200, 400, 800], giveUpMs: 600_000 };
const log = { debug() {}, info() {}, warn() {}, error: console.error };

export async function deliver({ connectionString }: DeliveriesJob): Promise<void> {
  const store = await openStore({ connectionString, log });
  webhooksOver(store, { secrets: createSecretBox(masterKey), log, bounds, retries }).delivering.start();
}
