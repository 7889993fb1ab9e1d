import { randomBytes } from 'node:crypto';

/** Makes a secret: `whsec_` and 32 random bytes in base64, the form of a symmetric secret in Standard Webhooks. */
export const makeWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
