import { queryOptions } from '@tanstack/react-query';
import type { CreateSchedule, UpdateSchedule } from '@lodge/sdk';
import { change, list, lodge } from '../../../api.ts';

export const schedulesQuery = (agentId: string) =>
  queryOptions({ queryKey: ['agent', agentId, 'schedules'], queryFn: () => list(lodge.schedules.list(agentId)) });

export const runsKey = (agentId: string, schedule: string) => ['agent', agentId, 'runs', schedule] as const;
export const runsPage = (agentId: string, schedule: string) => (cursor: string | undefined) =>
  lodge.schedules.runs(agentId, schedule, cursor === undefined ? { limit: 20 } : { limit: 20, cursor });

export const scheduleChanges = (agentId: string) => ({
  create: (body: CreateSchedule) => change(() => lodge.schedules.create(agentId, body)),
  update: (schedule: string, body: UpdateSchedule) => change(() => lodge.schedules.update(agentId, schedule, body)),
  run: (schedule: string) => change(() => lodge.schedules.run(agentId, schedule)),
  remove: (schedule: string) => change(() => lodge.schedules.delete(agentId, schedule)),
});
