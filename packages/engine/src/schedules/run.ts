/**
 * What is done about a run that was claimed: its prompt is a turn, and what comes of that is its end, or it is put off. Until that is
 * written nothing has happened for the store: a process that dies leaves a claim that ends, and the run is begun again, as often as
 * the bounds allow, with a word that the attempt before may have acted.
 */
import { scheduledPromptOf } from '@lodge/domain';
import type { AgentRow, ClaimedRun, Log, RunEnd, ScheduleRuns } from '@lodge/ports';
import type { Agents } from '../agents/agents.ts';
import { maxAnswerChars } from '../channels/answering/bounds.ts';
import { cutOf } from '../claimed/cut.ts';
import { message } from '../turns/run-turn.ts';
import type { RunTurn } from '../turns/run-turn.ts';
import type { ScheduleBounds } from './bounds.ts';
import { failureOf } from '../claimed/failure.ts';

export interface RunDeps {
  readonly agents: Pick<Agents, 'get'>;
  readonly runTurn: RunTurn;
  readonly runs: Pick<ScheduleRuns, 'end' | 'postpone'>;
  readonly bounds: ScheduleBounds;
  readonly log: Log;
}

/** Whether the turn was on its way to the agent. */
interface Progress {
  hasBegun: boolean;
}

const acted = ' It may have acted before it failed.';
const reasons = {
  tooOften: 'The run was begun several times and never came to its end.',
  closing: 'The service ended while the agent was at work.',
  asleep: "The agent did not run, and the schedule's wake is false.",
} as const;

export async function perform(deps: RunDeps, claimed: ClaimedRun, cut: AbortSignal): Promise<void> {
  const progress: Progress = { hasBegun: false };
  const tries = claimed.attempts + 1;
  let end: RunEnd | null;
  try {
    const isOver = tries > deps.bounds.waitsMs.length + 1;
    end = isOver ? failed(reasons.tooOften, claimed.mayHaveActed) : await outcome(deps, claimed, progress, cut);
  } catch (error) {
    end = await afterError(deps, claimed, { error, ...progress }, cut);
  }
  if (end !== null) await deps.runs.end(claimed, end);
}

async function outcome(deps: RunDeps, claimed: ClaimedRun, progress: Progress, cut: AbortSignal): Promise<RunEnd> {
  const { accountId, agentId, wake } = claimed.schedule;
  const agent = await deps.agents.get(accountId, agentId);
  if (agent.status === 'error') return failed(inError(agent), claimed.mayHaveActed);
  if (!wake && agent.status !== 'running') return { status: 'skipped', error: reasons.asleep, answer: null };
  return { status: 'ok', error: null, answer: await say(deps, claimed, progress, cut) };
}

/** Rejects with a `Refusal`, or with the reason of `cut`. */
async function say(deps: RunDeps, claimed: ClaimedRun, progress: Progress, cut: AbortSignal): Promise<string> {
  const { schedule, scheduledFor, attempts, mayHaveActed, isManual } = claimed;
  const { id, accountId, agentId, name, timeZone, prompt, conversation, wake } = schedule;
  const text = scheduledPromptOf({
    name,
    prompt,
    scheduledFor,
    timeZone,
    attempt: attempts + 1,
    mayHaveActed,
    isManual,
  });
  try {
    const answer = await deps.runTurn({
      agentId,
      accountId,
      member: null,
      conversation: conversation ?? `schedule:${id}`,
      origin: 'schedule',
      said: message(text),
      wake,
      wakeTimeoutMs: deps.bounds.wakeMs,
      timeoutMs: deps.bounds.turnMs,
      signal: cut,
    });
    progress.hasBegun = true;
    // A database takes no other; a guest wrote it.
    return (await answer.text()).slice(0, maxAnswerChars).replaceAll('\0', '').toWellFormed().trim();
  } catch (error) {
    cut.throwIfAborted();
    throw error;
  }
}

interface Trouble extends Progress {
  readonly error: unknown;
}

/** The run's end; null where it has none yet, or another process has it. */
async function afterError(
  { runs, bounds, log }: RunDeps,
  claimed: ClaimedRun,
  { error, hasBegun }: Trouble,
  cut: AbortSignal,
): Promise<RunEnd | null> {
  const cause = cutOf(cut);
  if (cause === 'claim_lost') return null;
  if (cause === 'closing') {
    await runs.postpone(claimed, { afterMs: 0, reason: reasons.closing, mayHaveActed: hasBegun });
    return null;
  }
  const failure = failureOf(error, { tries: claimed.attempts + 1, waitsMs: bounds.waitsMs, hasBegun });
  const { reason, mayHaveActed, retryAfterMs: afterMs } = failure;
  const { agentId: agent_id, id: schedule_id } = claimed.schedule;
  log.warn({ err: error, agent_id, schedule_id, retry_after_ms: afterMs }, 'a run of a schedule came to nothing');
  if (afterMs === null) return failed(reason, mayHaveActed || claimed.mayHaveActed);
  await runs.postpone(claimed, { afterMs, reason, mayHaveActed });
  return null;
}

const failed = (reason: string, mayHaveActed: boolean): RunEnd => ({
  status: 'failed',
  error: mayHaveActed ? reason + acted : reason,
  answer: null,
});

const inError = ({ statusReason }: AgentRow): string =>
  `The agent is in error${statusReason === null ? '.' : `: ${statusReason.message}`}`;
