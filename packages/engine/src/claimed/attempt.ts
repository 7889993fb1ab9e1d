/**
 * What is done about work that was claimed: it is a turn of its agent, and what comes of that is its end, or it is put off. Until that is
 * written nothing has happened for the store: a process that dies leaves a claim that ends, and the work is begun again, as often as
 * the bounds allow, with a word that the attempt before may have acted.
 */
import type { AgentRow, ClaimedTurn, ClaimedTurns, Log, TurnEnd } from '@lodge/ports';
import type { Agents } from '../agents/agents.ts';
import { plainAnswer } from '../turns/plain-answer.ts';
import { message } from '../turns/run-turn.ts';
import type { RunTurn, TurnOrigin } from '../turns/run-turn.ts';
import { cutOf } from './cut.ts';
import { failureOf } from './failure.ts';
import type { TurnBounds } from './turn-bounds.ts';
import { workReasons } from './words.ts';

/** What an agent is to do. */
export interface Task {
  readonly accountId: string;
  readonly agentId: string;
  readonly conversation: string;
  readonly origin: TurnOrigin;
  readonly text: string;
  /** Whether it wakes an agent that does not run. */
  readonly wakes: (agent: AgentRow) => boolean;
  /** Why it does not. */
  readonly asleep: string;
  /** In the log. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface AttemptDeps<Piece extends ClaimedTurn> {
  readonly agents: Pick<Agents, 'get'>;
  readonly runTurn: RunTurn;
  readonly turns: Pick<ClaimedTurns<Piece>, 'end' | 'postpone'>;
  readonly taskOf: (piece: Piece) => Task;
  readonly bounds: Pick<TurnBounds, 'turnMs' | 'wakeMs' | 'waitsMs'>;
  /** Names the work in the log. */
  readonly what: string;
  readonly log: Log;
}

/** Whether the turn was on its way to the agent. */
interface Progress {
  hasBegun: boolean;
}

const acted = ' It may have acted before it failed.';

export async function attempt<Piece extends ClaimedTurn>(
  deps: AttemptDeps<Piece>,
  claimed: Piece,
  cut: AbortSignal,
): Promise<void> {
  const progress: Progress = { hasBegun: false };
  const isOver = claimed.attempts > deps.bounds.waitsMs.length;
  let end: TurnEnd | null;
  try {
    end = isOver ? failed(workReasons.tooOften, claimed.mayHaveActed) : await outcome(deps, claimed, progress, cut);
  } catch (error) {
    end = await afterError(deps, claimed, { error, ...progress }, cut);
  }
  if (end !== null) await deps.turns.end(claimed, end);
}

async function outcome<Piece extends ClaimedTurn>(
  deps: AttemptDeps<Piece>,
  claimed: Piece,
  progress: Progress,
  cut: AbortSignal,
): Promise<TurnEnd> {
  const task = deps.taskOf(claimed);
  const agent = await deps.agents.get(task.accountId, task.agentId);
  if (agent.status === 'error') return failed(inError(agent), claimed.mayHaveActed);
  const wake = task.wakes(agent);
  if (!wake && agent.status !== 'running') return { outcome: 'skipped', reason: task.asleep, answer: null };
  return { outcome: 'answered', reason: null, answer: await say(deps, { ...task, wake }, progress, cut) };
}

/** Rejects with a `Refusal`, or with the reason of `cut`. */
async function say<Piece extends ClaimedTurn>(
  { runTurn, bounds }: AttemptDeps<Piece>,
  { accountId, agentId, conversation, origin, text, wake }: Task & { readonly wake: boolean },
  progress: Progress,
  cut: AbortSignal,
): Promise<string> {
  try {
    const answer = await runTurn({
      agentId,
      accountId,
      member: null,
      conversation,
      origin,
      said: message(text),
      wake,
      wakeTimeoutMs: bounds.wakeMs,
      timeoutMs: bounds.turnMs,
      signal: cut,
    });
    progress.hasBegun = true;
    return plainAnswer(await answer.text());
  } catch (error) {
    cut.throwIfAborted();
    throw error;
  }
}

interface Trouble extends Progress {
  readonly error: unknown;
}

/** The end; null where there is none yet, or another process has the work. */
async function afterError<Piece extends ClaimedTurn>(
  { turns, taskOf, bounds, what, log }: AttemptDeps<Piece>,
  claimed: Piece,
  { error, hasBegun }: Trouble,
  cut: AbortSignal,
): Promise<TurnEnd | null> {
  const cause = cutOf(cut);
  if (cause === 'claim_lost') return null;
  if (cause === 'closing') {
    await turns.postpone(claimed, { afterMs: 0, reason: workReasons.closing, mayHaveActed: hasBegun });
    return null;
  }
  const failure = failureOf(error, { tries: claimed.attempts + 1, waitsMs: bounds.waitsMs, hasBegun });
  const { reason, mayHaveActed, retryAfterMs: afterMs } = failure;
  log.warn({ err: error, ...taskOf(claimed).fields, retry_after_ms: afterMs }, `${what}: a turn came to nothing`);
  if (afterMs === null) return failed(reason, mayHaveActed || claimed.mayHaveActed);
  await turns.postpone(claimed, { afterMs, reason, mayHaveActed });
  return null;
}

const failed = (reason: string, mayHaveActed: boolean): TurnEnd => ({
  outcome: 'failed',
  reason: mayHaveActed ? reason + acted : reason,
  answer: null,
});

const inError = ({ statusReason }: AgentRow): string =>
  `The agent is in error${statusReason === null ? '.' : `: ${statusReason.message}`}`;
