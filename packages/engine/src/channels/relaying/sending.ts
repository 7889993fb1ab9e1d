/** The end of an outgoing part, and what ends with it. */
import type { LeaseRef } from '@lodge/ports';
import { appendEnds, relayRows as rows, storable } from '@lodge/store/channels';
import { notify } from '@lodge/store/database';
import type { Transaction } from '@lodge/store/database';

const maxReasonChars = 1_000;

/**
 * Ends a part that was sent, and returns the key of its file. With the last part its answer has ended, and the messages of the
 * answer are answered. The result of a relay that was sending is true even when its lease is over by then.
 */
export async function sent(
  trx: Transaction,
  lease: LeaseRef,
  partId: string,
  platformId: string,
): Promise<string | null> {
  await rows.lockOutbox(trx, lease);
  const part = await rows.markSent(trx, lease, partId, platformId);
  if (part === undefined) return null;
  const answers = [part.answerId];
  const isOver = part.isLast && (await rows.endAnswers(trx, answers, 'sent'));
  const answered = isOver ? await rows.endMessagesOf(trx, answers, 'answered', null) : [];
  await rows.noteOutbound(trx, lease);
  await notify(trx, lease.agentId, 'channel_work');
  await appendEnds(trx, answered);
  return part.fileKey;
}

/** Ends a part that was not sent. The rest of its answer is dropped, and answer and messages end as the part does. */
export async function sendFailed(
  trx: Transaction,
  lease: LeaseRef,
  partId: string,
  outcome: 'failed' | 'unknown',
  reason: string,
): Promise<void> {
  const sentence = storable(reason, maxReasonChars);
  const answerId = await rows.markFailed(trx, lease, partId, outcome, sentence);
  if (answerId === undefined) return;
  await rows.endWaitingParts(trx, [answerId], 'dropped');
  await rows.endAnswers(trx, [answerId], outcome);
  const failed = await rows.endMessagesOf(trx, [answerId], outcome, sentence);
  await notify(trx, lease.agentId, 'channel_work');
  await appendEnds(trx, failed);
}
