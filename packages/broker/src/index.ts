export { createBroker } from './broker.ts';
export type { Broker, BrokerOptions } from './broker.ts';
export { createKeyChecker } from './key-check.ts';
export { defaultLimits } from './limits.ts';
export type { BrokerLimits } from './limits.ts';
export { parseOperatorProviders } from './operator-providers.ts';
export { parsePrices } from './prices/overrides.ts';
export { createPriceBook } from './prices/price-book.ts';
export { builtinProviders } from './providers.ts';
