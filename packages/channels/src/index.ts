export * from './telegram/index.ts';
export { createWhatsApp, Limiter as WhatsAppLimiter } from './whatsapp/index.ts';
export type { WhatsAppOptions } from './whatsapp/index.ts';
export { createGmail, createGmailConsent } from './gmail/index.ts';
export type { GmailOptions } from './gmail/index.ts';
export { createSlack } from './slack/slack.ts';
export type { SlackOptions } from './slack/slack.ts';
export { createDiscord } from './discord/discord.ts';
export type { DiscordOptions } from './discord/discord.ts';
