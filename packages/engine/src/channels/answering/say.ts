/** One turn: messages that wait, with their files, said to the agent in their conversation's session. */
import { promptOf } from '@lodge/domain';
import type { PromptMessage } from '@lodge/domain';
import type { ChannelAnswer, ChannelFiles, GuestFiles, WaitingConversation, WaitingMessage } from '@lodge/ports';
import type { Agents } from '../../agents/agents.ts';
import { bounded } from '../../turns/bounded.ts';
import { message } from '../../turns/run-turn.ts';
import type { RunTurn } from '../../turns/run-turn.ts';
import { maxAnswerChars } from './bounds.ts';
import type { AnsweringBounds } from './bounds.ts';
import { GuestLoan } from './guest-loan.ts';
import { deliver, newBudget } from './inbox.ts';
import { collect } from './outbox.ts';
import { sayings } from './words.ts';

export interface SayDeps {
  readonly agents: Pick<Agents, 'use'>;
  readonly runTurn: RunTurn;
  readonly files: ChannelFiles;
  readonly guestFiles: GuestFiles;
  readonly bounds: AnsweringBounds;
}

export interface Saying {
  readonly conversation: WaitingConversation;
  readonly messages: readonly WaitingMessage[];
  readonly session: number;
  /** Whether a message may wake the agent. */
  readonly wake: boolean;
}

/** Rejects with a `Refusal`, or with the reason of `cut`. */
export async function say(deps: SayDeps, saying: Saying, cut: AbortSignal): Promise<ChannelAnswer> {
  const { conversation, messages, session, wake } = saying;
  const { agentId, accountId, channel } = conversation;
  const { wakeMs: wakeTimeoutMs, turnMs: timeoutMs } = deps.bounds;
  const { signal, end } = bounded(cut, timeoutMs);
  const loan = new GuestLoan(deps.agents, conversation, { wake, message: true, timeoutMs: wakeTimeoutMs, signal });
  try {
    const said = message(promptOf(conversation, await withFiles(deps, messages, loan, signal)));
    const answer = await deps.runTurn({
      agentId,
      accountId,
      member: null,
      conversation: `channel:${channel}:${conversation.id}:${session}`,
      origin: 'channel',
      said,
      wake,
      wakeTimeoutMs,
      timeoutMs,
      signal,
    });
    const text = withinBounds(await answer.text());
    const { files, notSent } = await collect(deps, await answer.files(), () => loan.guest(), signal);
    return { text: [text, ...notSent].filter((part) => part !== '').join('\n\n'), files };
  } catch (error) {
    cut.throwIfAborted();
    throw error;
  } finally {
    loan.release();
    end();
  }
}

async function withFiles(
  deps: SayDeps,
  messages: readonly WaitingMessage[],
  loan: GuestLoan,
  signal: AbortSignal,
): Promise<readonly PromptMessage[]> {
  const budget = newBudget();
  const told: PromptMessage[] = [];
  for (const each of messages) {
    const isAny = each.files.some(({ key }) => key !== null);
    const guest = isAny ? await loan.guest() : { address: '', credential: () => Promise.resolve(null) };
    told.push({ ...each, ...(await deliver(deps, each, guest, budget, signal)) });
  }
  return told;
}

/** What a database and a platform take: a guest wrote it. */
function withinBounds(text: string): string {
  const plain = text.slice(0, maxAnswerChars).replaceAll('\0', '').toWellFormed().trim();
  return text.length > maxAnswerChars ? plain + sayings.cut : plain;
}
