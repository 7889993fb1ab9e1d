import { createHooks } from '@lodge/engine';
import { hookRoutes } from '../http/routes/hooks/hooks.ts';
import { receiveRoute } from '../http/routes/hooks/receive.ts';
import type { Core, Resource } from './resource.ts';

export const hooks = {
  open: ({ cryptography, ...core }: Core) => createHooks({ ...core, tokens: cryptography.tokens }),
  routes: [hookRoutes, receiveRoute],
} as const satisfies Resource;
