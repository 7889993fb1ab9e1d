export { createBroker } from './broker.ts';
export type { Broker, BrokerOptions } from './broker.ts';
export { defaultLimits } from './limits.ts';
export type { BrokerLimits } from './limits.ts';
export { parseOperatorProviders } from './operator-providers.ts';
export { builtinProviders } from './providers.ts';
