export * from './schedule.ts';
export { cronTrouble, isTimeZone } from './cron.ts';
export * from './timing.ts';
export * from './prompt.ts';
