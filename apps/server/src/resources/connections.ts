import { createConnections } from '@lodge/engine';
import type { Config } from '../config/config.ts';
import { publicUrl } from '../config/public-url.ts';
import { connectionRoutes } from '../http/routes/connections/connections.ts';
import { connectionOAuthRoutes } from '../http/routes/connections/oauth.ts';
import type { Core, Resource } from './resource.ts';

export const connections = {
  open: ({ config, ...core }: Core) =>
    createConnections({
      ...core,
      anyAddress: config.connectionAddresses === 'any',
      isOwnHost: (host) => isOwnHost(config, host),
    }),
  routes: [connectionRoutes, connectionOAuthRoutes],
} as const satisfies Resource;

/** Whether a host is this service's name, or an address of an agent. */
function isOwnHost(config: Config, host: string): boolean {
  const { agentsDomain } = config;
  return host === publicUrl(config).hostname || host === agentsDomain || host.endsWith(`.${agentsDomain}`);
}
