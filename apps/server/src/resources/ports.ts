import { createPublishedPorts } from '@lodge/engine';
import { portRoutes } from '../http/routes/ports/ports.ts';
import { tunnelRoute } from '../http/routes/ports/tunnel.ts';
import type { Core, Resource } from './resource.ts';

export const ports = {
  open: ({ database }: Core) => createPublishedPorts(database),
  routes: [portRoutes, tunnelRoute],
} as const satisfies Resource;
