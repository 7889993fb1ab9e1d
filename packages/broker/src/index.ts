export { createBroker } from './broker.ts';
export type { Broker, BrokerOptions } from './broker.ts';
export { createKeyChecker } from './providers/key-check.ts';
export { defaultLimits } from './call/call-limits.ts';
export type { BrokerLimits } from './call/call-limits.ts';
export { parseOperatorProviders } from './providers/operator.ts';
export { parsePrices } from './prices/overrides.ts';
export { createPriceBook } from './prices/price-book.ts';
export { builtinProviders } from './providers/builtin.ts';
