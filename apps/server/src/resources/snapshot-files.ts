import { createSnapshotFiles } from '@lodge/engine';
import { diffSnapshotRoute } from '../http/routes/snapshots/diff.ts';
import { snapshotFileRoutes } from '../http/routes/snapshots/files.ts';
import type { Core, Resource } from './resource.ts';

export const snapshotFiles = {
  open: ({ config, database, openedSnapshots: opened }: Core) =>
    createSnapshotFiles({ database, opened, openMs: config.lifecycleWaitMs }),
  routes: [snapshotFileRoutes, diffSnapshotRoute],
} as const satisfies Resource;
