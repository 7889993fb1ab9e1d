import { createSchedules } from '@lodge/engine';
import { scheduleRunRoutes } from '../http/routes/schedules/runs.ts';
import { scheduleRoutes } from '../http/routes/schedules/schedules.ts';
import type { Core, Resource } from './resource.ts';

export const schedules = {
  open: (core: Core) => createSchedules(core),
  routes: [scheduleRoutes, scheduleRunRoutes],
} as const satisfies Resource;
