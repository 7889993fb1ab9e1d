/** The end of a turn, and of a command that is answered beside the turns. */
import { stateAfterTurn } from '@lodge/domain';
import type { TurnOutcome } from '@lodge/domain';
import type { ChannelAnswer } from '@lodge/ports';
import {
  answerBeforeClaim,
  answerBeforeMessage,
  appendEnds,
  cutClaim,
  endClaim,
  lastReplyTo,
  lockAside,
  lockClaims,
  queueAnswer,
  setAnswer,
  setWaiting,
  writeTaken,
} from '@lodge/store/channels';
import { notify } from '@lodge/store/database';
import type { Transaction } from '@lodge/store/database';
import type { WorkClaim } from '@lodge/store/work';

export interface TurnResult {
  readonly outcome: TurnOutcome;
  readonly reason: string | null;
  readonly answer: ChannelAnswer | null;
  readonly newSession?: boolean;
  /** Also ends the earlier messages that wait, unanswered and for this reason. Their postponement ends with them. */
  readonly endsEarlier?: string;
}

/** Ends the claim, its messages and answer. False when the claim was lost; then nothing is written. */
export async function endTurn(
  trx: Transaction,
  claim: WorkClaim,
  { outcome, reason, answer, newSession = false, endsEarlier }: TurnResult,
): Promise<boolean> {
  const forgetsDelay = endsEarlier !== undefined;
  const conversation = await endClaim(trx, claim, { newSession, forgetsDelay });
  if (conversation === undefined) return false;
  const { id } = claim;
  const earlier = endsEarlier === undefined ? [] : await answerBeforeClaim(trx, claim, endsEarlier);
  const replyTo = await lastReplyTo(trx, claim);
  const answerId = answer && (await queueAnswer(trx, { conversation: id, ...conversation, replyTo, answer }));
  const state = stateAfterTurn(outcome, answerId !== null);
  const messages = await writeTaken(trx, claim, { state, reason, answerId: state === 'received' ? answerId : null });
  await setWaiting(trx, id);
  await notify(trx, conversation.agentId, 'channel_work');
  await appendEnds(trx, [...earlier, ...messages]);
  return true;
}

export interface AsideAnswer extends Pick<TurnResult, 'endsEarlier'> {
  readonly text: string;
}

/**
 * Answers a command once, under the lock of claims, so either a claim has the command or this call does. False when it was
 * answered already, when a claim has it, or when a turn began that it must stop first.
 */
export async function endAside(trx: Transaction, id: string, { text, endsEarlier }: AsideAnswer): Promise<boolean> {
  await lockClaims(trx);
  const found = await lockAside(trx, id);
  if (found === undefined) return false;
  const { seq, ...to } = found;
  const { conversation } = to;
  if (endsEarlier !== undefined) await cutClaim(trx, conversation);
  const earlier = endsEarlier === undefined ? [] : await answerBeforeMessage(trx, conversation, seq, endsEarlier);
  const answerId = await queueAnswer(trx, { ...to, answer: { text, files: [] } });
  await setAnswer(trx, id, answerId);
  await setWaiting(trx, conversation);
  await appendEnds(trx, earlier);
  return true;
}
