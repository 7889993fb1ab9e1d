export { openedStore } from './opened-store.ts';
export { createRelay } from './relay.ts';
export type { Relay, RelayOptions } from './relay.ts';
export { usualRelayTimings } from './timings.ts';
export type { RelayTimings } from './timings.ts';
export { startUpkeep } from './upkeep.ts';
export type { Upkeep } from './upkeep.ts';
