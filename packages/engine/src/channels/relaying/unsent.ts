/** Gives up answers that wait too long or are too many, so an absent channel does not keep answers for ever. */
import { outboundBounds, unsentEnd, unsentReasons } from '@lodge/domain';
import type { LeaseRef } from '@lodge/ports';
import { appendEnds, relayRows as rows } from '@lodge/store/channels';
import { notify } from '@lodge/store/database';
import type { Database, Transaction } from '@lodge/store/database';

const step = 200;
const { waitHours, waiting } = outboundBounds;

type Place = Pick<LeaseRef, 'agentId' | 'channel'>;
type UnsentParts = readonly rows.UnsentPart[];

/**
 * Fails waiting answers. One process does it at a time, and each transaction has one channel, because events are of one
 * account.
 */
export async function failUnsent(database: Database): Promise<void> {
  for (const place of await database.repeatable((db) => rows.channelsWithLate(db, waitHours))) {
    const late = (trx: Transaction) => rows.lockLate(trx, place, waitHours, step);
    while (await database.transaction((trx) => failStep(trx, place, late, unsentReasons.late)));
  }
  for (const place of await database.repeatable((db) => rows.channelsWithMore(db, waiting))) {
    const oldest = (trx: Transaction) => rows.lockBeyond(trx, place, waiting, step);
    while (await database.transaction((trx) => failStep(trx, place, oldest, unsentReasons.crowded)));
  }
}

/** Fails some answers and returns whether there may be more. */
async function failStep(
  trx: Transaction,
  { agentId }: Place,
  lock: (trx: Transaction) => Promise<UnsentParts>,
  reason: string,
): Promise<boolean> {
  if (!(await rows.tryPruneLock(trx))) return false;
  const parts = await lock(trx);
  if (parts.length === 0) return false;
  const unclear = new Set(parts.filter(({ isUnclear }) => isUnclear).map(({ answerId }) => answerId));
  const clear = new Set(parts.map(({ answerId }) => answerId).filter((id) => !unclear.has(id)));
  const failed = await end(trx, [...clear], unsentEnd(reason, false));
  const unknown = await end(trx, [...unclear], unsentEnd(reason, true));
  await notify(trx, agentId, 'channel_work');
  await appendEnds(trx, [...failed, ...unknown]);
  return true;
}

async function end(trx: Transaction, answers: readonly string[], { state, reason }: ReturnType<typeof unsentEnd>) {
  if (answers.length === 0) return [];
  await rows.endWaitingParts(trx, answers, state, reason);
  await rows.endAnswers(trx, answers, state);
  return rows.endMessagesOf(trx, answers, state, reason);
}
