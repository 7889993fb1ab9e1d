import { readFile } from 'node:fs/promises';
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

/** How the API listens. Reads certificate and key; throws an Error that names the variable when that cannot be done. */
export async function networkSettings(config: Config): Promise<NetworkSettings> {
  const { tlsCert, tlsKey } = config;
  const tls =
    tlsCert === null || tlsKey === null
      ? null
      : { cert: await pem('LODGE_TLS_CERT', tlsCert), key: await pem('LODGE_TLS_KEY', tlsKey) };
  return {
    maxConnections: config.maxConnections,
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    ...(tls && { tls }),
  };
}

async function pem(variable: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`${variable}: ${path} cannot be read.`, { cause: error });
  }
}
