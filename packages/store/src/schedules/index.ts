export * from './ends.ts';
export * from './firing.ts';
export * from './schedules.ts';
export { insertRequestedRun, scheduleRuns, skipWaitingRun } from './owned-runs.ts';
export type { SchedulePlace, ScheduleRunRow } from './owned-runs.ts';
