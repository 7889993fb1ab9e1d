export * from './telegram/index.ts';
export { createWhatsApp } from './whatsapp/index.ts';
export type { WhatsAppOptions } from './whatsapp/index.ts';
export { createSlack } from './slack/index.ts';
export type { SlackOptions } from './slack/index.ts';
export { createDiscord } from './discord/index.ts';
export type { DiscordOptions } from './discord/index.ts';
export * from './gmail/index.ts';
