/** Runs of schedules as work: the turn that one makes, and its end. */
import { previewOf, scheduledPromptOf } from '@lodge/domain';
import type { RunStatus } from '@lodge/domain';
import { storable } from '@lodge/store/channels';
import type { Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { endRun, failRun, missVainRun, postponeRun } from '@lodge/store/schedules';
import type { EndedRun } from '@lodge/store/schedules';
import { storableReason } from '@lodge/store/work';
import type { ClaimedRun, WorkClaim } from '@lodge/store/work';
import { deliverEnd, deliveryFacts } from '../work/delivery.ts';
import type { Kind, Task, TurnEnd } from '../work/kind.ts';
import type { ScheduleBounds } from './bounds.ts';

export const scheduleRuns = (bounds: ScheduleBounds): Kind<ClaimedRun> => ({
  bounds,
  what: 'runs of schedules',
  taskOf,
  end,
  postpone: postponeRun,
  endVain: (trx) => missVain(trx, bounds.maxWaitMs),
});

function taskOf({ attempts, mayHaveActed, facts: { schedule, scheduledFor, isManual } }: ClaimedRun): Task {
  const { id, accountId, agentId, name, timeZone, prompt, wake } = schedule;
  const facts = { name, prompt, timeZone, attempt: attempts + 1, mayHaveActed, isManual };
  return {
    accountId,
    agentId,
    conversation: schedule.conversation ?? `schedule:${id}`,
    origin: 'schedule',
    text: scheduledPromptOf({ ...facts, scheduledFor: new Date(scheduledFor) }),
    wakes: () => wake,
    asleep: "The agent did not run, and the schedule's wake is false.",
    fields: { agent_id: agentId, schedule_id: id },
  };
}

const statuses = { answered: 'ok', failed: 'failed', skipped: 'skipped' } as const satisfies Record<
  TurnEnd['outcome'],
  RunStatus
>;

/** Writes the run's cost and its event, and delivers its answer. */
async function end(trx: Transaction, claim: WorkClaim, { outcome, ...given }: TurnEnd): Promise<boolean> {
  const answer = given.answer && storable(given.answer);
  const reason = given.reason && storableReason(given.reason);
  const answerPreview = answer === null ? null : previewOf(answer);
  const run = await endRun(trx, claim, { status: statuses[outcome], error: reason, answerPreview });
  if (run === undefined) return false;
  await writeEvent(trx, run, await deliverEnd(trx, run, { outcome, reason, answer }, failRun));
  return true;
}

async function missVain(trx: Transaction, maxWaitMs: number): Promise<boolean> {
  const reason = `The run could not begin within ${Math.round(maxWaitMs / 3_600_000)} hours.`;
  const run = await missVainRun(trx, maxWaitMs, reason);
  if (run === undefined) return false;
  await appendEvent(trx, {
    type: 'schedule.missed',
    data: { ...whichOf(run), status: 'missed', reason },
    ...ofRun(run),
  });
  return true;
}

const ofRun = ({ accountId, agentId }: EndedRun) => ({ accountId, agentId, by: null });

const whichOf = ({ scheduleId, name, id, scheduledFor }: EndedRun) => ({
  schedule_id: scheduleId,
  name,
  run_id: id,
  scheduled_for: scheduledFor.toISOString(),
});

function writeEvent(trx: Transaction, run: EndedRun, { outcome, reason, answer }: TurnEnd): Promise<unknown> {
  const { attempts, cost, durationMs, deliverTo } = run;
  const facts = { ...whichOf(run), duration_ms: Math.round(durationMs), attempts, cost };
  switch (outcome) {
    case 'answered':
      return appendEvent(trx, {
        type: 'schedule.ran',
        data: { ...facts, ...deliveryFacts(deliverTo, answer) },
        ...ofRun(run),
      });
    case 'failed':
      return appendEvent(trx, { type: 'schedule.failed', data: { ...facts, reason: reason ?? '' }, ...ofRun(run) });
    case 'skipped': {
      const data = { ...whichOf(run), status: outcome, reason: reason ?? '' };
      return appendEvent(trx, { type: 'schedule.missed', data, ...ofRun(run) });
    }
  }
}
