/**
 * What is done about a message that was claimed: it is a turn, and what comes of that is its end, or it is put off. Until that is
 * written nothing has happened for the store: a process that dies leaves a claim that ends, and the message is begun again, as often
 * as the bounds allow, with a word that the attempt before may have acted.
 */
import { hookPromptOf } from '@lodge/domain';
import type { AgentRow, ClaimedHookMessage, HookEnd, HookTurns, Log } from '@lodge/ports';
import type { Agents } from '../agents/agents.ts';
import { maxAnswerChars } from '../channels/answering/bounds.ts';
import { cutOf } from '../claimed/cut.ts';
import { reasons } from '../channels/answering/words.ts';
import { message } from '../turns/run-turn.ts';
import type { RunTurn } from '../turns/run-turn.ts';
import type { HookBounds } from './bounds.ts';
import { failureOf } from '../claimed/failure.ts';

export interface PerformDeps {
  readonly agents: Pick<Agents, 'get'>;
  readonly runTurn: RunTurn;
  readonly turns: Pick<HookTurns, 'end' | 'postpone'>;
  readonly bounds: HookBounds;
  readonly log: Log;
}

/** Whether the turn was on its way to the agent. */
interface Progress {
  hasBegun: boolean;
}

const acted = ' It may have acted before it failed.';

export async function perform(deps: PerformDeps, claimed: ClaimedHookMessage, cut: AbortSignal): Promise<void> {
  const progress: Progress = { hasBegun: false };
  const tries = claimed.attempts + 1;
  let end: HookEnd | null;
  try {
    const isOver = tries > deps.bounds.waitsMs.length + 1;
    end = isOver ? failed(reasons.tooOften, claimed.mayHaveActed) : await outcome(deps, claimed, progress, cut);
  } catch (error) {
    end = await afterError(deps, claimed, { error, ...progress }, cut);
  }
  if (end !== null) await deps.turns.end(claimed, end);
}

async function outcome(
  deps: PerformDeps,
  claimed: ClaimedHookMessage,
  progress: Progress,
  cut: AbortSignal,
): Promise<HookEnd> {
  const { accountId, agentId } = claimed.hook;
  const agent = await deps.agents.get(accountId, agentId);
  if (agent.status === 'error') return failed(inError(agent), claimed.mayHaveActed);
  const wake = agent.lifecycle.wakeOnMessage;
  if (!wake && agent.status !== 'running') return { state: 'skipped', reason: reasons.off, answer: null };
  return { state: 'answered', reason: null, answer: await say(deps, claimed, { wake, progress, cut }) };
}

interface Saying {
  readonly wake: boolean;
  readonly progress: Progress;
  readonly cut: AbortSignal;
}

/** Rejects with a `Refusal`, or with the reason of `cut`. */
async function say(
  { runTurn, bounds }: PerformDeps,
  { hook, attempts, ...received }: ClaimedHookMessage,
  { wake, progress, cut }: Saying,
): Promise<string> {
  const text = hookPromptOf({ ...received, hook: hook.name, isSigned: hook.isSigned, attempt: attempts + 1 });
  try {
    const answer = await runTurn({
      agentId: hook.agentId,
      accountId: hook.accountId,
      member: null,
      conversation: hook.conversation ?? `hook:${hook.id}`,
      origin: 'hook',
      said: message(text),
      wake,
      wakeTimeoutMs: bounds.wakeMs,
      timeoutMs: bounds.turnMs,
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

/** The message's end; null where it has none yet, or another process has it. */
async function afterError(
  { turns, bounds, log }: PerformDeps,
  claimed: ClaimedHookMessage,
  { error, hasBegun }: Trouble,
  cut: AbortSignal,
): Promise<HookEnd | null> {
  const cause = cutOf(cut);
  if (cause === 'claim_lost') return null;
  if (cause === 'closing') {
    await turns.postpone(claimed, { afterMs: 0, reason: reasons.closing, mayHaveActed: hasBegun });
    return null;
  }
  const failure = failureOf(error, { tries: claimed.attempts + 1, waitsMs: bounds.waitsMs, hasBegun });
  const { reason, mayHaveActed, retryAfterMs: afterMs } = failure;
  const { agentId: agent_id, id: hook_id } = claimed.hook;
  log.warn({ err: error, agent_id, hook_id, retry_after_ms: afterMs }, 'a message of a hook came to nothing');
  if (afterMs === null) return failed(reason, mayHaveActed || claimed.mayHaveActed);
  await turns.postpone(claimed, { afterMs, reason, mayHaveActed });
  return null;
}

const failed = (reason: string, mayHaveActed: boolean): HookEnd => ({
  state: 'failed',
  reason: mayHaveActed ? reason + acted : reason,
  answer: null,
});

const inError = ({ statusReason }: AgentRow): string =>
  `The agent is in error${statusReason === null ? '.' : `: ${statusReason.message}`}`;
