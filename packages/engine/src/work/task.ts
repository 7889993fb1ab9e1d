/** How an attempt does the task of a piece, and how it ends. */
import type { ErrorCode } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import type { ClaimedPiece } from '@lodge/store/work';
import type { Agents } from '../agents/agents.ts';
import { plainAnswer } from '../turns/answer.ts';
import { message } from '../turns/run-turn.ts';
import type { RunTurn } from '../turns/run-turn.ts';
import type { AttemptParts } from './attempt.ts';
import type { RetryRules } from './failure.ts';
import type { Kind, TurnEnd } from './kind.ts';

export interface TaskDeps {
  readonly database: Database;
  readonly agents: Pick<Agents, 'get'>;
  readonly runTurn: RunTurn;
  readonly log: Log;
}

/** Errors that another attempt cannot help: keys, limits, and an agent that must not be woken. */
const final: readonly ErrorCode[] = [
  'invalid_request',
  'request_too_large',
  'spend_limit_exceeded',
  'loop_detected',
  'agent_not_running',
  'agent_not_found',
];

export const taskRetries = (waitsMs: readonly number[]): RetryRules => ({
  waitsMs,
  maxWaitMs: 15 * 60_000,
  mayPass: ({ code }) => !final.includes(code),
});

export function attemptOf(deps: TaskDeps, kind: Kind<ClaimedPiece>): AttemptParts<ClaimedPiece, TurnEnd> {
  const { database, log } = deps;
  return {
    turn: (piece, cut, begins) => turnOf(deps, kind, piece, { cut, begins }),
    failed: (piece, { reason, mayHaveActed }) => failed(reason, mayHaveActed || piece.mayHaveActed),
    end: (piece, end) => database.transaction((trx) => kind.end(trx, piece, end)),
    postpone: (piece, wait) => database.transaction((trx) => kind.postpone(trx, piece, wait)),
    rules: taskRetries(kind.bounds.waitsMs),
    what: kind.what,
    fields: (piece) => kind.taskOf(piece).fields,
    log,
  };
}

interface Turning {
  readonly cut: AbortSignal;
  readonly begins: () => void;
}

async function turnOf(
  { agents, runTurn }: TaskDeps,
  kind: Kind<ClaimedPiece>,
  piece: ClaimedPiece,
  { cut, begins }: Turning,
): Promise<TurnEnd> {
  const task = kind.prepare ? await kind.prepare(piece, cut) : kind.taskOf(piece);
  if ('outcome' in task) return task;
  const { accountId, agentId, member = null, conversation, origin, text, wakes, asleep } = task;
  const agent = await agents.get(accountId, agentId);
  if (agent.status === 'error') return failed(inError(agent), piece.mayHaveActed);
  const wake = wakes(agent);
  if (!wake && agent.status !== 'running') return { outcome: 'skipped', reason: asleep, answer: null };
  try {
    const answer = await runTurn({
      agentId,
      accountId,
      member,
      conversation,
      origin,
      said: message(text),
      wake,
      wakeTimeoutMs: kind.bounds.wakeMs,
      timeoutMs: kind.bounds.turnMs,
      signal: cut,
    });
    begins();
    return { outcome: 'answered', reason: null, answer: plainAnswer(await answer.text()) };
  } catch (error) {
    cut.throwIfAborted();
    throw error;
  }
}

const acted = ' It may have acted before it failed.';

const failed = (reason: string, mayHaveActed: boolean): TurnEnd => ({
  outcome: 'failed',
  reason: mayHaveActed ? reason + acted : reason,
  answer: null,
});

const inError = ({ statusReason }: AgentRow): string =>
  `The agent is in error${statusReason === null ? '.' : `: ${statusReason.message}`}`;
