/** One turn: the waiting messages with their files are given to the agent in their conversation's session. */
import { conversationOfTurns, promptOf } from '@lodge/domain';
import type { PromptMessage, Shares } from '@lodge/domain';
import type { ChannelAnswer, ChannelFiles, GuestAddress, GuestFiles } from '@lodge/ports';
import type { WaitingConversation, WaitingMessage } from '@lodge/ports';
import type { Agents } from '../../agents/agents.ts';
import type { Answer } from '../../turns/answer.ts';
import { bounded } from '../../turns/bounded.ts';
import { maxAnswerChars, plainAnswer } from '../../turns/answer.ts';
import { message } from '../../turns/run-turn.ts';
import type { RunTurn, Said } from '../../turns/run-turn.ts';
import { TurnPictures } from '../attachments/turn-pictures.ts';
import type { AnsweringBounds } from './bounds.ts';
import { GuestLoan } from './guest-loan.ts';
import { deliver, newBudget } from './inbox.ts';
import { collect } from './outbox.ts';
import { Telling } from './progress.ts';
import type { TellingDeps } from './progress.ts';
import { sayings } from './words.ts';

export interface SayDeps extends TellingDeps {
  readonly agents: Pick<Agents, 'use'>;
  readonly runTurn: RunTurn;
  readonly files: ChannelFiles;
  readonly guestFiles: GuestFiles;
  readonly bounds: AnsweringBounds;
  /** Bytes of pictures on their way to agents. */
  readonly held: Shares;
}

export interface Saying {
  readonly conversation: WaitingConversation;
  readonly messages: readonly WaitingMessage[];
  readonly session: number;
  /** Whether a message may wake the agent. */
  readonly wake: boolean;
}

/** Makes the turn. Rejects with a `Refusal`, or with the reason of `cut`. */
export async function say(deps: SayDeps, saying: Saying, cut: AbortSignal): Promise<ChannelAnswer> {
  const { conversation, messages, session, wake } = saying;
  const { agentId, accountId, channel } = conversation;
  const { wakeMs: wakeTimeoutMs, turnMs: timeoutMs } = deps.bounds;
  const { signal, end } = bounded(cut, timeoutMs);
  const loan = new GuestLoan(deps.agents, conversation, { wake, message: true, timeoutMs: wakeTimeoutMs, signal });
  const telling = new Telling(deps, conversation);
  const pictures = new TurnPictures(deps.held, conversation);
  const begin = (said: Said): Promise<Answer> =>
    deps.runTurn({
      agentId,
      accountId,
      member: null,
      conversation: conversationOfTurns(channel, conversation.id, session),
      origin: 'channel',
      said,
      wake,
      wakeTimeoutMs,
      timeoutMs,
      signal,
    });
  try {
    const prompts = await withFiles(deps, messages, { loan, pictures, signal });
    const answer = await answered(conversation, prompts, pictures, begin);
    const text = withinBounds(await answer.text((more) => telling.add(more)));
    const { files, notSent } = await collect(
      deps,
      await answer.files(),
      { owner: conversation, guestOf: () => loan.guest() },
      signal,
    );
    return { text: [text, ...notSent].filter((part) => part !== '').join('\n\n'), files };
  } catch (error) {
    cut.throwIfAborted();
    throw error;
  } finally {
    pictures.release();
    telling.end();
    loan.release();
    end();
  }
}

/**
 * Returns the whole answer. Not every model accepts pictures: where they may be the reason for a failure, asks once more
 * without them.
 */
async function answered(
  conversation: WaitingConversation,
  prompts: readonly PromptMessage[],
  pictures: TurnPictures,
  begin: (said: Said) => Promise<Answer>,
): Promise<Answer> {
  const plain = promptOf(
    conversation,
    prompts.map((each) => ({ ...each, pictures: [] })),
  );
  if (pictures.pictures.length > 0) {
    const text = promptOf(conversation, prompts);
    const answer = await begin(message(plain, { text, pictures: pictures.pictures }));
    try {
      await answer.opened;
      pictures.release();
      await answer.text();
      return answer;
    } catch (error) {
      if (!answer.isPerhapsForPictures) throw error;
    }
  }
  return begin(message(plain));
}

interface FileWays {
  readonly loan: GuestLoan;
  readonly pictures: TurnPictures;
  readonly signal: AbortSignal;
}

/** Stands where no message brings a file. */
const noGuest: GuestAddress = {
  address: '',
  dial: () => Promise.reject(new Error('no guest was asked for')),
  credential: () => Promise.resolve(null),
};

async function withFiles(
  deps: SayDeps,
  messages: readonly WaitingMessage[],
  { loan, pictures, signal }: FileWays,
): Promise<readonly PromptMessage[]> {
  const budget = newBudget(pictures);
  const prompts: PromptMessage[] = [];
  for (const each of messages) {
    const isAny = each.files.some(({ key }) => key !== null);
    const guest = isAny ? await loan.guest() : noGuest;
    prompts.push({ ...each, ...(await deliver(deps, each, guest, budget, signal)) });
  }
  return prompts;
}

export function withinBounds(text: string): string {
  const plain = plainAnswer(text);
  return text.length > maxAnswerChars ? plain + sayings.cut : plain;
}
