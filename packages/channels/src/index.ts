export * from './telegram/index.ts';
export { createWhatsApp, Limiter as WhatsAppLimiter } from './whatsapp/index.ts';
export type { WhatsAppOptions } from './whatsapp/index.ts';
