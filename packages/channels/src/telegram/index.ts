export { createTelegram } from './platform.ts';
export type { TelegramOptions } from './platform.ts';
export type { TelegramTimings } from './timings.ts';
