import type { Config } from './config.ts';

/** Where clients reach the API: as the operator says, or where it listens. With LODGE_PORT=0 the port is known only then. */
export function publicUrl(config: Pick<Config, 'publicUrl' | 'host' | 'port' | 'tlsCert'>): URL {
  if (config.publicUrl !== null) return new URL(config.publicUrl);
  const everywhere = config.host === '0.0.0.0' || config.host === '::';
  const host = everywhere ? 'localhost' : config.host.includes(':') ? `[${config.host}]` : config.host;
  return new URL(`${config.tlsCert === null ? 'http' : 'https'}://${host}:${config.port}`);
}
