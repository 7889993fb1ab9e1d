/** Delivers to webhooks, as a server does, until it is killed. Its first message is where the database is. */
import { createSecretBox } from '@lodge/access';
import { openStore } from '@lodge/store';
import { webhooksOver } from '@lodge/testkit/webhooks';
import { deliveryBounds, deliveryRetries, masterKey } from './webhooks-storm-settings.ts';

const log = { debug() {}, info() {}, warn() {}, error: console.error };

process.on('message', (connectionString: string) => {
  openStore({ connectionString, log }).then((store) => {
    const secrets = createSecretBox(masterKey);
    const { delivering } = webhooksOver(store, { secrets, log, bounds: deliveryBounds, retries: deliveryRetries });
    delivering.start();
    process.send!('ready');
  }, console.error);
});
process.on('disconnect', () => process.exit(1));
