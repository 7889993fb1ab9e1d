export type DeliveryState = 'pending' | 'delivered' | 'failed';

/** The context bound to a sealed secret of a webhook. */
export const webhookSecretContext = (webhookId: string): string => `webhook-secret:${webhookId}`;
