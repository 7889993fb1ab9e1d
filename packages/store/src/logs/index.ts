export { appendLog, appendLogFrom, logPosition, logWriter } from './append.ts';
export type { LogPosition } from './append.ts';
export { logPage } from './page.ts';
export { pruneLogs } from './prune.ts';
