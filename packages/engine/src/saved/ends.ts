/** Ends of snapshots that come with something else: the end of an operation, or of the agent. */
import type { EventType } from '@lodge/domain';
import type { Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { endSnapshotsOf, failSaving } from '@lodge/store/snapshots';

interface Place {
  readonly accountId: string;
  readonly agentId: string;
}

/** Fails the agent's snapshot that is still being saved when its operation ends. `endedWith` is the operation's own event. */
export async function failSave(trx: Transaction, { accountId, agentId }: Place, endedWith: EventType): Promise<void> {
  const why = 'The agent changed while it was being saved.';
  const row = await failSaving(trx, agentId, why);
  if (row === undefined || endedWith === 'snapshot.failed') return;
  const data = { snapshot_id: row.id, kind: row.kind, name: row.name, why };
  await appendEvent(trx, { type: 'snapshot.failed', data, accountId, agentId, by: null });
}

/** Deletes the snapshots of an agent that is gone, but pinned ones. */
export async function endSaves(trx: Transaction, { accountId, agentId }: Place): Promise<void> {
  for (const { id, kind } of await endSnapshotsOf(trx, agentId)) {
    const data = { snapshot_id: id, kind, why: 'agent_deleted' } as const;
    await appendEvent(trx, { type: 'snapshot.deleted', data, accountId, agentId, by: null });
  }
}
