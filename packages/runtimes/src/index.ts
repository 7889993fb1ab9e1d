export { createHermesRuntime } from './hermes/runtime.ts';
export { createOpenclawRuntime } from './openclaw/runtime.ts';
export { createGateway } from './gateway/turns.ts';
export { createGuestFiles } from './guest-files.ts';
