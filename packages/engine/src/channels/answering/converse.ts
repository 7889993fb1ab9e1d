/** A conversation in which messages wait: how an attempt answers it and ends. */
import { commandIn } from '@lodge/domain';
import type { ChannelCommand, ErrorCode } from '@lodge/domain';
import type { ChannelAnswer, Log, WaitingConversation, WaitingMessage } from '@lodge/ports';
import type { Agents } from '../../agents/agents.ts';
import type { AttemptParts } from '../../work/attempt.ts';
import type { RetryRules } from '../../work/failure.ts';
import type { TurnResult } from './ending.ts';
import { discard } from './outbox.ts';
import { say } from './say.ts';
import type { SayDeps } from './say.ts';
import type { ChannelTurns } from './turns.ts';
import { commandAnswer, reasons, sayings } from './words.ts';

export interface ConverseDeps extends SayDeps {
  readonly agents: Pick<Agents, 'get' | 'use'>;
  readonly turns: Pick<ChannelTurns, 'answer' | 'postpone' | 'tell'>;
  readonly log: Log;
}

/** Errors that pass by themselves, sooner or later. */
const passing: readonly ErrorCode[] = [
  'agent_transitioning',
  'insufficient_capacity',
  'quota_exceeded',
  'rate_limit_exceeded',
];

/** Retries of a conversation. An agent that does not answer has perhaps acted, so it is not asked again. */
export const conversationRetries = (waitsMs: readonly number[]): RetryRules => ({
  waitsMs,
  maxWaitMs: 10 * 60_000,
  mayPass: ({ code, mayRepeat }) => passing.includes(code) || (code === 'agent_unavailable' && mayRepeat),
});

const texts: { readonly [Code in ErrorCode]?: string } = {
  request_too_large: sayings.tooLong,
  invalid_request: sayings.cannot,
  internal_error: sayings.notDone,
  loop_detected: sayings.notDone,
  agent_unavailable: sayings.notDone,
};

/** The sentence about a failure that goes to the conversation. It tells nothing of the account. */
export const textOf = (code: ErrorCode | null): string => (code !== null && texts[code]) || sayings.cannot;

export function conversing(deps: ConverseDeps): AttemptParts<WaitingConversation, TurnResult> {
  const { turns, bounds, log } = deps;
  return {
    turn: (claimed, cut) => answered(deps, claimed, cut),
    failed: (_claimed, { reason, code }) => failed(reason, textOf(code)),
    stopped: { outcome: 'answered', reason: reasons.stopped, answer: null },
    end: (claimed, result) => ended(deps, claimed, result),
    postpone: (claimed, { afterMs, reason, lackedRoom }) =>
      turns.postpone(claimed, new Date(Date.now() + afterMs), reason, lackedRoom),
    rules: conversationRetries(bounds.waitsMs),
    what: 'messages of channels',
    fields: ({ agentId: agent_id, channel }) => ({ agent_id, channel }),
    log,
  };
}

async function ended(deps: ConverseDeps, claimed: WaitingConversation, result: TurnResult): Promise<void> {
  const isWritten = await deps.turns.answer(claimed, result);
  if (!isWritten) await discard(deps, result.answer?.files ?? []);
  else if (result.outcome === 'answered') await discard(deps, handedOver(claimed));
}

/** Files of messages whose turn is done. Files of a failed message stay for its retry. */
const handedOver = ({ messages }: WaitingConversation): readonly { readonly key: string }[] =>
  messages.flatMap(({ files }) => files.flatMap(({ key }) => (key === null ? [] : [{ key }])));

const failed = (reason: string, text: string | null): TurnResult => ({
  outcome: 'failed',
  reason,
  answer: text === null ? null : { text, files: [] },
});

async function answered(deps: ConverseDeps, claimed: WaitingConversation, cut: AbortSignal): Promise<TurnResult> {
  const { accountId, agentId, messages, session, kind, lastReason } = claimed;
  const agent = await deps.agents.get(accountId, agentId);
  const command = commandOf(messages);
  if (command !== null) {
    const answer = { text: commandAnswer(command, agent), files: [] };
    const result = { outcome: 'answered', reason: null, answer, newSession: command === 'new' } as const;
    return command === 'stop' ? { ...result, endsEarlier: reasons.stopped } : result;
  }
  const wake = agent.lifecycle.wakeOnMessage;
  // Saying it once is enough: a sender who goes on writing knows.
  if (!wake && agent.status !== 'running') return failed(reasons.off, lastReason === reasons.off ? null : sayings.off);
  const answer = await say(deps, { conversation: claimed, messages, session, wake }, cut);
  return { outcome: 'answered', reason: null, answer: answerFor(answer, kind) };
}

/** The command of a message that comes alone. The host answers it by itself. */
const commandOf = ([message, ...others]: readonly WaitingMessage[]): ChannelCommand | null =>
  message === undefined || others.length > 0 || message.files.length > 0 ? null : commandIn(message.text);

/** An agent may have nothing to say in a group. */
function answerFor({ text, files }: ChannelAnswer, kind: WaitingConversation['kind']): ChannelAnswer | null {
  if (text !== '' || files.length > 0) return { text, files };
  return kind === 'direct' ? { text: sayings.nothing, files } : null;
}
