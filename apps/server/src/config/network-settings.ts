import type { Config } from './config.ts';
import type { NetworkSettings } from '../http/context.ts';
import type { RateSettings } from '../http/pipeline/limits/limits.ts';

export function rateSettings(config: Config): RateSettings {
  return {
    reads: config.rateReads,
    writes: config.rateWrites,
    creates: config.rateCreates,
    calls: config.rateCalls,
    address: config.rateAddress,
    createsAtOnce: config.createsAtOnce,
  };
}

/** How the API listens. */
export function networkSettings(config: Config, tls: NetworkSettings['tls'] | null): NetworkSettings {
  return {
    maxConnections: config.maxConnections,
    ...(config.maxOfNetwork !== null && { maxOfNetwork: config.maxOfNetwork }),
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    ...(tls && { tls }),
  };
}
