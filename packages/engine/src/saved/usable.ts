/** Snapshots that something begins from. */
import { Refusal, agentIdPattern } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { SavedMachine, VmDriver } from '@lodge/ports';
import type { Database, Queries } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { findSnapshot, markDamaged } from '@lodge/store/snapshots';
import type { Contents, SnapshotRow } from '@lodge/store/snapshots';

export const noSnapshot = (): Refusal => new Refusal('snapshot_not_found', 'The account has no such snapshot.');

/** Returns the account's snapshot, which is ready. Refuses with `snapshot_not_found`, `_not_ready` or `_damaged`. */
export async function usableSnapshot(db: Queries, accountId: string, id: string): Promise<SnapshotRow> {
  const row = agentIdPattern.test(id) ? await findSnapshot(db, accountId, id) : undefined;
  if (row === undefined) throw noSnapshot();
  checkUsable(row);
  return row;
}

export function checkUsable({ status, error }: SnapshotRow): void {
  switch (status) {
    case 'ready':
      return;
    case 'saving':
      throw new Refusal('snapshot_not_ready', 'The snapshot is still being saved. Try again once it is ready.', {
        retryAfterSeconds: 5,
      });
    case 'failed':
      throw new Refusal('snapshot_not_ready', `The snapshot was not saved: ${error}`);
    case 'damaged':
      throw new Refusal('snapshot_damaged', `The snapshot is damaged: ${error}`);
  }
}

/** The contents of a machine, by the row of its agent or snapshot; all unknown without one. */
export const contentsOf = (row: Contents | undefined): Contents => ({
  settingsApplied: row?.settingsApplied ?? null,
  packagesApplied: row?.packagesApplied ?? null,
  skillsApplied: row?.skillsApplied ?? null,
});

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

/** Whether the error says that a saved machine is no more as it was saved, or no more at all. */
export const isDamage = (error: unknown): boolean =>
  error instanceof VmError && (error.code === 'saved_damaged' || error.code === 'saved_missing');

/** Returns the saved machine; null when there is none that this host can read. */
export async function findReadable(driver: Pick<VmDriver, 'findSaved'>, id: string): Promise<SavedMachine | null> {
  try {
    return await driver.findSaved(id);
  } catch (error) {
    if (error instanceof VmError) return null;
    throw error;
  }
}
