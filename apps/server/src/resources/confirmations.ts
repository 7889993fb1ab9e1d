import { createConfirmations } from '@lodge/engine';
import { confirmationRoutes } from '../http/routes/confirmations/confirmations.ts';
import type { Core, Resource } from './resource.ts';

export const confirmations = {
  open: ({ database, secrets }: Core) => createConfirmations({ database, secrets }),
  routes: [confirmationRoutes],
} as const satisfies Resource;
