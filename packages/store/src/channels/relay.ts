/** Statements of a relay's calls. */
import type { ChannelName, Json } from '@lodge/domain';
import type { LeaseRef } from '@lodge/ports';
import type { Queries, Transaction } from '../database/database.ts';
import { storableJson } from './text.ts';

export { factsOfPress } from './choices.ts';
export { faulted } from './faults.ts';
export { fetched, filesToFetch, unneededFiles } from './files.ts';
export { keepMessages } from './kept-messages.ts';
export { acquire, lockCurrent, lockHeld, release, renew } from './leases.ts';
export {
  endAnswers,
  endMessagesOf,
  endWaitingParts,
  lockOutbox,
  markFailed,
  markSent,
  noteOutbound,
  partsToSend,
  sending,
  sendLater,
  split,
  working,
} from './outbox.ts';
export { posted, progress, unposted } from './progress.ts';
export { pruneChannels, tryPruneLock } from './prune.ts';
export { conversationOf, countRefused, giveWay, insertPending, knownOfSenders, noteInbound } from './receive.ts';
export { changed, keepSealed } from './states.ts';
export { channelsWithLate, channelsWithMore, lockBeyond, lockLate } from './unsent.ts';
export type { UnsentPart } from './unsent.ts';
export { clearVault, vaultGet, writeVault } from './vault.ts';

export async function wanted(db: Queries): Promise<readonly ChannelName[]> {
  const rows = await db.selectFrom('channels').select('channel').distinct().where('enabled', '=', true).execute();
  return rows.map(({ channel }) => channel);
}

/** Writes the position of a connection. The caller has locked the channel's row. */
export async function writeCursor(trx: Transaction, { agentId, channel }: LeaseRef, cursor: Json): Promise<void> {
  await trx
    .updateTable('channels')
    .set({ cursor: storableJson(cursor) })
    .where('agentId', '=', agentId)
    .where('channel', '=', channel)
    .execute();
}
