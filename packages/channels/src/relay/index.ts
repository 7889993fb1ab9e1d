export { createRelay } from './relay.ts';
export type { Relay, RelayOptions } from './relay.ts';
export { usualRelayTimings } from './timings.ts';
export type { RelayTimings } from './timings.ts';
