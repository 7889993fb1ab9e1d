import { createAgentVisits } from '@lodge/engine';
import { createLinkRoute } from '../http/routes/links/create.ts';
import type { Core, Resource } from './resource.ts';

export const visits = {
  open: ({ database, cryptography }: Core) => createAgentVisits(database, cryptography.tokens),
  routes: [createLinkRoute],
} as const satisfies Resource;
