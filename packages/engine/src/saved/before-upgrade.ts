/**
 * The snapshot of an agent of before its upgrade, by which the upgrade can be undone long after it is done, runtime and all: the
 * machine at rest gets one more name. Without room, or beyond the agent's number of snapshots, the upgrade goes on without it,
 * because the machine at rest itself undoes a failure.
 */
import { randomInt } from 'node:crypto';
import { keptPresentDays, makeAgentId, maxSnapshots } from '@lodge/domain';
import { restOf } from '@lodge/ports';
import type { Transaction } from '@lodge/store/database';
import { databaseTime } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { countSnapshots, endSaving, insertSnapshot, savingOf } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';
import type { Pass } from '../lifecycle/reconcile/pass.ts';
import { newSnapshotRow } from './begin.ts';
import { failSave } from './ends.ts';
import { savePresent } from './save.ts';

const dayMs = 86_400_000;

/** Names the agent's machine at rest. A kill leaves the row, which the next pass goes on with. */
export async function keepBefore(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  const { accountId } = agent;
  const row = await deps.database.transaction((trx) => ownRow(trx, pass));
  if (row === undefined) return;
  const outcome = await savePresent(pass, row, { present: restOf(id) });
  await deps.database.transaction(async (trx) => {
    if ('why' in outcome) {
      await failSave(trx, { accountId, agentId: id }, outcome.why);
      return;
    }
    const { saved, stillMs } = outcome;
    if ((await endSaving(trx, row.id, saved)) === undefined) return;
    const of = { snapshot_id: row.id, kind: row.kind, name: row.name, memory: saved.memory };
    const data = { ...of, still_ms: Math.round(stillMs), ...pass.took };
    await appendEvent(trx, { type: 'snapshot.created', data, accountId, agentId: id, by: null });
  });
}

async function ownRow(trx: Transaction, { agent, id }: Pass): Promise<SnapshotRow | undefined> {
  const begun = await savingOf(trx, id);
  if (begun !== undefined) return begun;
  if ((await countSnapshots(trx, id)) >= maxSnapshots) return undefined;
  const expiresAt = new Date((await databaseTime(trx)).getTime() + keptPresentDays * dayMs);
  const wanted = { kind: 'before_upgrade', memory: true, expiresAt } as const;
  return insertSnapshot(trx, newSnapshotRow(agent, makeAgentId(randomInt), wanted));
}
