/** Refusals about snapshots, and their damage. */
import { Refusal } from '@lodge/domain';
import type { Database } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { markDamaged } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';

export const noSnapshot = (): Refusal => new Refusal('snapshot_not_found', 'The account has no such snapshot.');

/** Marks a snapshot damaged, with its event; one that is not ready stays as it is. */
export async function noteDamage(database: Database, { id }: Pick<SnapshotRow, 'id'>, why: string): Promise<void> {
  await database.transaction(async (trx) => {
    const row = await markDamaged(trx, id, why);
    if (row === undefined) return;
    const { accountId, agentId, kind, name } = row;
    const data = { snapshot_id: id, kind, name, why };
    await appendEvent(trx, { type: 'snapshot.damaged', data, accountId, agentId, by: null });
  });
}
