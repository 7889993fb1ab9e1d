import { randomBytes } from 'node:crypto';

/** `whsec_` and 32 random bytes in base64, as Standard Webhooks writes a symmetric secret. */
export const makeWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
