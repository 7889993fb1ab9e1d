export { createWebhookSender, makeWebhookSecret } from './sender.ts';
export type { WebhookSenderOptions } from './sender.ts';
