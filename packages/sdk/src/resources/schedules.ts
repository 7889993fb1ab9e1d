import type { Pages } from '../http/page.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type {
  CreateSchedule,
  DeletedSchedule,
  Schedule,
  ScheduleList,
  ScheduleRun,
  ScheduleRunList,
  UpdateSchedule,
} from '../types.ts';
import { Resource } from './resource.ts';
import type { QueryOf } from './resource.ts';

/** Prompts that an agent gets by itself, and their times. */
export class Schedules extends Resource {
  list(agentId: string, options?: CallOptions): Pages<ScheduleList> {
    return this.pagesOf(agentPath(agentId, 'schedules'), options);
  }

  create(agentId: string, body: CreateSchedule, options?: CallOptions): Promise<Schedule> {
    return this.postJson(agentPath(agentId, 'schedules'), body, options);
  }

  get(agentId: string, schedule: string, options?: CallOptions): Promise<Schedule> {
    return this.getJson(agentPath(agentId, 'schedules', schedule), options);
  }

  update(agentId: string, schedule: string, body: UpdateSchedule, options?: CallOptions): Promise<Schedule> {
    return this.sendJson('PATCH', agentPath(agentId, 'schedules', schedule), options, { body });
  }

  delete(agentId: string, schedule: string, options?: CallOptions): Promise<DeletedSchedule> {
    return this.sendJson('DELETE', agentPath(agentId, 'schedules', schedule), options);
  }

  /** Runs it now. */
  run(agentId: string, schedule: string, body?: Record<string, never>, options?: CallOptions): Promise<ScheduleRun> {
    return this.postJson(agentPath(agentId, 'schedules', schedule, 'run'), body, options);
  }

  /** Its runs, newest first. */
  runs(
    agentId: string,
    schedule: string,
    query?: QueryOf<'listScheduleRuns'>,
    options?: CallOptions,
  ): Pages<ScheduleRunList> {
    return this.pagesOf(agentPath(agentId, 'schedules', schedule, 'runs'), options, query);
  }
}
