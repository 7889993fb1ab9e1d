export { appendAgentEvent, appendEvent, appendEvents } from './append.ts';
export { writeNote } from './change-note.ts';
export { pruneEvents } from './prune.ts';
