import { exportAgentRoute } from '../http/routes/portable/export.ts';
import { importAgentRoute } from '../http/routes/portable/import.ts';
import type { Core, Resource } from './resource.ts';

export const portable = {
  open: ({ portable: useCases }: Core) => useCases,
  routes: [exportAgentRoute, importAgentRoute],
} as const satisfies Resource;
