import { createSnapshots } from '@lodge/engine';
import { restoreRoute } from '../http/routes/restore/restore.ts';
import { createSnapshotRoute } from '../http/routes/snapshots/create.ts';
import { snapshotRoutes } from '../http/routes/snapshots/snapshots.ts';
import type { Core, Resource } from './resource.ts';

export const snapshots = {
  open: ({ config, ...core }: Core) => createSnapshots({ ...core, bounds: { accountGib: config.maxSnapshotGib } }),
  routes: [createSnapshotRoute, snapshotRoutes, restoreRoute],
} as const satisfies Resource;
