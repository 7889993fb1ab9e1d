import type { ScheduleRuns, ScheduleStore } from '@lodge/ports';
import type { Agents } from '../agents/agents.ts';
import type { ScheduleBounds } from './bounds.ts';

/** Dependencies of schedules. */
export interface ScheduleParts {
  readonly store: ScheduleStore;
  readonly runs: ScheduleRuns;
  readonly bounds?: Partial<ScheduleBounds>;
}

/** Dependencies of the owner's use-cases. */
export interface SchedulesDeps {
  readonly store: ScheduleStore;
  readonly agents: Pick<Agents, 'get'>;
}
