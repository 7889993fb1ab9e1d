import { createForks } from '@lodge/engine';
import { forkRoute } from '../http/routes/fork/fork.ts';
import type { Core, Resource } from './resource.ts';

export const forks = {
  open: ({ config, ...core }: Core) => createForks({ ...core, bounds: { accountGib: config.maxSnapshotGib } }),
  routes: [forkRoute],
} as const satisfies Resource;
