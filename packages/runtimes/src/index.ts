export { createOpenclawRuntime } from './openclaw/runtime.ts';
