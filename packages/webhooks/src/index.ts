export { makeWebhookSecret } from './secret.ts';
export { createWebhookSender } from './sender.ts';
export type { WebhookSenderOptions } from './sender.ts';
