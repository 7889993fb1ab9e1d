export * from './schedule.ts';
export { cronTrouble, isZoneName } from './cron.ts';
export * from './timing.ts';
export * from './prompt.ts';
