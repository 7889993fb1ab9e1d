import { browserRoutes } from '../http/routes/browser/browser.ts';
import type { Resource } from './resource.ts';

/** It has no table: the machine of the agent knows its browser. */
export const browser = {
  open: () => ({}),
  routes: [browserRoutes],
} as const satisfies Resource;
