export { createSlack } from './slack.ts';
export type { SlackOptions } from './slack.ts';
