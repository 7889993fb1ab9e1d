export { pendingDeliveries, writeAttempts } from './attempts.ts';
export type { DeliveryAttempt, DueDelivery } from './attempts.ts';
export * from './deliveries.ts';
export { claimWebhooks, lockHeldWebhook, releaseWebhooks, renewWebhooks } from './held.ts';
export type { HeldWebhook } from './held.ts';
export { makeDeliveries } from './make-deliveries.ts';
export * from './webhooks.ts';
