/**
 * What is done about a conversation that was claimed: what waits in it is answered, put off, or has failed. Until that is written
 * nothing has happened for the store: a process that dies meanwhile leaves a claim that ends, and the turn is made again, as often
 * as the bounds allow.
 */
import { commandIn } from '@lodge/domain';
import type { ChannelCommand } from '@lodge/domain';
import type { ChannelAnswer, ChannelTurns, Log, WaitingConversation, WaitingMessage } from '@lodge/ports';
import type { Agents } from '../../agents/agents.ts';
import { cutOf } from '../../claimed/cut.ts';
import { failureOf } from './failure.ts';
import { discard } from './outbox.ts';
import { say } from './say.ts';
import type { SayDeps } from './say.ts';
import { commandAnswer, reasons, sayings } from './words.ts';

export interface ConverseDeps extends SayDeps {
  readonly agents: Pick<Agents, 'get' | 'use'>;
  readonly turns: Pick<ChannelTurns, 'answer' | 'postpone' | 'tell'>;
  readonly log: Log;
}

type Result = Parameters<ChannelTurns['answer']>[1];

export async function converse(deps: ConverseDeps, claimed: WaitingConversation, cut: AbortSignal): Promise<void> {
  const tries = claimed.attempts + 1;
  let result: Result;
  try {
    result =
      tries > deps.bounds.waitsMs.length + 1
        ? failed(reasons.tooOften, sayings.notDone)
        : await answered(deps, claimed, cut);
  } catch (error) {
    const ended = await afterError(deps, claimed, error, cut);
    if (ended === null) return;
    result = ended;
  }
  const isWritten = await deps.turns.answer(claimed, result);
  if (!isWritten) await discard(deps, result.answer?.files ?? []);
  else if (result.outcome === 'answered') await discard(deps, handedOver(claimed));
}

/** Files of messages that have had their turn. Those of one that failed are there for its retry. */
const handedOver = ({ messages }: WaitingConversation): readonly { readonly key: string }[] =>
  messages.flatMap(({ files }) => files.flatMap(({ key }) => (key === null ? [] : [{ key }])));

/** What is to be written; null where nothing is, or it is written already. */
async function afterError(
  { turns, bounds, log }: ConverseDeps,
  claimed: WaitingConversation,
  error: unknown,
  cut: AbortSignal,
): Promise<Result | null> {
  const cause = cutOf(cut);
  if (cause === 'claim_lost') return null;
  if (cause === 'stop') return { outcome: 'answered', reason: reasons.stopped, answer: null };
  if (cause === 'closing') {
    await turns.postpone(claimed, new Date(), reasons.closing);
    return null;
  }
  const failure = failureOf(error, claimed.attempts + 1, bounds.waitsMs);
  const { agentId: agent_id, channel } = claimed;
  log.warn({ err: error, agent_id, channel, to: failure.to }, 'a turn for a channel came to nothing');
  if (failure.to === 'end') return failed(failure.reason, failure.text);
  await turns.postpone(claimed, new Date(Date.now() + failure.afterMs), failure.reason);
  return null;
}

const failed = (reason: string, text: string | null): Result => ({
  outcome: 'failed',
  reason,
  answer: text === null ? null : { text, files: [] },
});

async function answered(deps: ConverseDeps, claimed: WaitingConversation, cut: AbortSignal): Promise<Result> {
  const { accountId, agentId, messages, session, kind, lastReason } = claimed;
  const agent = await deps.agents.get(accountId, agentId);
  const command = commandOf(messages);
  if (command !== null) {
    const answer = { text: commandAnswer(command, agent), files: [] };
    const result = { outcome: 'answered', reason: null, answer, newSession: command === 'new' } as const;
    return command === 'stop' ? { ...result, endsEarlier: reasons.stopped } : result;
  }
  const wake = agent.lifecycle.wakeOnMessage;
  // Once is enough: whoever goes on writing knows.
  if (!wake && agent.status !== 'running') return failed(reasons.off, lastReason === reasons.off ? null : sayings.off);
  const answer = await say(deps, { conversation: claimed, messages, session, wake }, cut);
  return { outcome: 'answered', reason: null, answer: answerFor(answer, kind) };
}

/** The host answers a command by itself; it comes alone. */
const commandOf = ([message, ...others]: readonly WaitingMessage[]): ChannelCommand | null =>
  message === undefined || others.length > 0 || message.files.length > 0 ? null : commandIn(message.text);

/** An agent may have nothing to say in a group. */
function answerFor({ text, files }: ChannelAnswer, kind: WaitingConversation['kind']): ChannelAnswer | null {
  if (text !== '' || files.length > 0) return { text, files };
  return kind === 'direct' ? { text: sayings.nothing, files } : null;
}
