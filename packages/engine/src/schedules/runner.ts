/**
 * Makes runs of due schedules, and turns of waiting runs. It asks only the database for the time. A due time is a row before
 * anything is done about it.
 */
import { scheduledPromptOf } from '@lodge/domain';
import type { ClaimedRun, ScheduleRuns } from '@lodge/ports';
import type { Task } from '../claimed/task.ts';
import { TurnRunner } from '../claimed/turn-runner.ts';
import type { TurnRunnerDeps } from '../claimed/turn-runner.ts';
import { Periodic } from '../periodic.ts';
import type { ScheduleBounds } from './bounds.ts';
import { planAgain, planFiring } from './timing.ts';

export interface ScheduleRunnerDeps extends TurnRunnerDeps {
  readonly runs: ScheduleRuns;
  readonly bounds: ScheduleBounds;
}

export function createScheduleRunner({ runs, ...deps }: ScheduleRunnerDeps): TurnRunner<ClaimedRun> {
  const { bounds, log } = deps;
  const replanning = new Periodic({
    everyMs: bounds.replanEveryMs,
    log,
    failed: 'schedules were not looked at for a clock that went back',
    round: () => runs.replan(planAgain),
  });
  return new TurnRunner({
    ...deps,
    turns: runs,
    taskOf,
    before: () => runs.fire(bounds.fired, planFiring),
    rounds: [replanning],
    what: 'runs of schedules',
  });
}

function taskOf({ schedule, scheduledFor, isManual, attempts, mayHaveActed }: ClaimedRun): Task {
  const { id, accountId, agentId, name, timeZone, prompt, wake } = schedule;
  const attempt = attempts + 1;
  return {
    accountId,
    agentId,
    conversation: schedule.conversation ?? `schedule:${id}`,
    origin: 'schedule',
    text: scheduledPromptOf({ name, prompt, scheduledFor, timeZone, attempt, mayHaveActed, isManual }),
    wakes: () => wake,
    asleep: "The agent did not run, and the schedule's wake is false.",
    fields: { agent_id: agentId, schedule_id: id },
  };
}
