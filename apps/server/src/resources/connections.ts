import { createConnections } from '@lodge/engine';
import { connectionRoutes } from '../http/routes/connections/connections.ts';
import { connectionOAuthRoutes } from '../http/routes/connections/oauth.ts';
import type { Core, Resource } from './resource.ts';

export const connections = {
  open: ({ config, ...core }: Core) => createConnections({ ...core, anyAddress: config.connectionAddresses === 'any' }),
  routes: [connectionRoutes, connectionOAuthRoutes],
} as const satisfies Resource;
