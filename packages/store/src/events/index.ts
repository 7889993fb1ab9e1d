export { appendEvent, appendEvents } from './append.ts';
export { writeNote } from './change-note.ts';
