export { createDiscord } from './discord.ts';
export type { DiscordOptions } from './discord.ts';
