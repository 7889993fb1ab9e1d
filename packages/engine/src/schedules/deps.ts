import type { ScheduleRuns, ScheduleStore } from '@lodge/ports';
import type { Agents } from '../agents/agents.ts';
import type { ScheduleBounds } from './bounds.ts';

/** What schedules stand on. */
export interface ScheduleParts {
  readonly store: ScheduleStore;
  readonly runs: ScheduleRuns;
  readonly bounds?: Partial<ScheduleBounds>;
}

/** What the owner's use-cases stand on. */
export interface SchedulesDeps {
  readonly store: ScheduleStore;
  readonly agents: Pick<Agents, 'get'>;
}
