/** Ends of snapshots. The row goes with its event; the keeper frees the machine. */
import type { EventType, Happening } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import type { Transaction } from '@lodge/store/database';
import { appendEvent, writeNote } from '@lodge/store/events';
import { deleteSnapshot, endSnapshotsOf, failSaving } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';

type Why = Extract<Happening, { readonly type: 'snapshot.deleted' }>['data']['why'];

interface Place {
  readonly accountId: string;
  readonly agentId: string;
}

/** Deletes the row, and says so. */
export async function dropRow(trx: Transaction, row: SnapshotRow, why: Why, note?: ActorNote): Promise<void> {
  const { id, kind, accountId, agentId } = row;
  if ((await deleteSnapshot(trx, id)) === undefined) return;
  const data = { snapshot_id: id, kind, why };
  await writeNote(trx, { accountId, agentId }, { type: 'snapshot.deleted', data }, note);
}

/** Fails the agent's snapshot that is still being saved, and says so. False when none is. */
export async function failSave(trx: Transaction, { accountId, agentId }: Place, why: string): Promise<boolean> {
  const row = await failSaving(trx, agentId, why);
  if (row === undefined) return false;
  const data = { snapshot_id: row.id, kind: row.kind, name: row.name, why };
  await appendEvent(trx, { type: 'snapshot.failed', data, accountId, agentId, by: null });
  return true;
}

/** Fails what is still being saved of an agent whose operation ends without a word about it. */
export async function endSaveWith(trx: Transaction, place: Place, event: EventType): Promise<void> {
  if (event === 'snapshot.failed' || event === 'snapshot.created') return;
  await failSave(trx, place, 'The agent changed while it was being saved.');
}

/** Deletes the snapshots of an agent that is gone, but pinned ones. */
export async function endSnapshots(trx: Transaction, { accountId, agentId }: Place): Promise<void> {
  for (const { id, kind } of await endSnapshotsOf(trx, agentId)) {
    const data = { snapshot_id: id, kind, why: 'agent_deleted' } as const;
    await appendEvent(trx, { type: 'snapshot.deleted', data, accountId, agentId, by: null });
  }
}
