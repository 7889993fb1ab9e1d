/**
 * The step `go-back`: the first half of a restore. The present machine is saved, and in one write the snapshot to go back to
 * becomes the one that the agent's next start begins from. A stopped agent stays so; every other is started from it by the step
 * `load`, and its own machine ends there. A kill before the write leaves the agent as it was, and the next pass begins again;
 * after it, there is nothing of the present but its snapshot.
 */
import { restoreNote, sentenceOf } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import type { Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { deleteSnapshot, endSaving, failSaving, findSnapshot, savingOf } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { findLoadable } from '../lifecycle/reconcile/load.ts';
import type { Loadable } from '../lifecycle/reconcile/load.ts';
import type { Pass } from '../lifecycle/reconcile/pass.ts';
import { savePresent } from './save.ts';
import type { SaveOutcome } from './save.ts';

export async function goBack(pass: Pass): Promise<void> {
  const { agent, deps, id } = pass;
  const row = await deps.database.repeatable((db) => savingOf(db, id));
  const target = await findLoadable(pass, agent.restoreTo!, agent.restoreMemory);
  if (typeof target === 'string') return staysAsIs(pass, target, row);
  const outcome = row === undefined ? null : await save(pass, row);
  if (row === undefined || outcome === null) {
    return namesNext(pass, target, null, async (trx) => {
      // Nothing was left of its machine to be saved.
      if (row !== undefined) await deleteSnapshot(trx, row.id);
    });
  }
  const of = { snapshot_id: row.id, kind: row.kind, name: row.name };
  if ('why' in outcome) {
    const { why, code } = outcome;
    return pass.observe({ operation: null, event: { type: 'snapshot.failed', data: { ...of, why } } }, async (trx) => {
      await failSaving(trx, id, why, code);
    });
  }
  const { saved, stillMs } = outcome;
  const data = { ...of, memory: saved.memory, still_ms: Math.round(stillMs), ...pass.took };
  return namesNext(pass, target, row, async (trx) => {
    await endSaving(trx, row.id, saved);
    const { accountId } = agent;
    await appendEvent(trx, { type: 'snapshot.created', data, accountId, agentId: id, by: null });
  });
}

/** Saves the present of the agent. Null: there is nothing left of it. */
async function save(pass: Pass, row: SnapshotRow): Promise<SaveOutcome | null> {
  const { agent, deps, id, vm } = pass;
  const isOwn = vm !== null && vm.executionId === agent.executionId;
  const isLive = isOwn && (vm.state === 'running' || vm.state === 'paused') && isAwake(agent);
  if (isLive) return savePresent(pass, row);
  if (agent.nextFrom === null && vm === null) return null;
  // A machine that died has no more than its disk, once the rest of it is gone.
  if (vm !== null && vm.state !== 'disk-only' && vm.state !== 'suspended') {
    await pass.giveUpAddress();
    await deps.endings.remove(id, { keepDisk: true });
  }
  return savePresent(pass, row, { present: agent.nextFrom, atRest: true });
}

const isAwake = ({ status }: AgentRow): boolean => status === 'running' || status === 'paused';

/** Writes that the agent's next start begins from the snapshot. `present` is the snapshot of the present one, if it is saved. */
async function namesNext(
  pass: Pass,
  { id: to, template }: Loadable,
  present: Pick<SnapshotRow, 'id'> | null,
  also: (trx: Transaction) => Promise<void>,
): Promise<void> {
  const { agent, deps } = pass;
  const row = await deps.database.repeatable((db) => findSnapshot(db, agent.accountId, to));
  const next = {
    nextFrom: to,
    nextMemory: agent.restoreMemory,
    restoreTo: null,
    templateId: template.id,
    runtimeVersion: deps.templates.versionOf(template.id) ?? row?.runtimeVersion ?? agent.runtimeVersion,
    turnNote: restoreNote(row?.createdAt ?? new Date(), agent.turnNote),
    statusReason: null,
    vmAddress: null,
  };
  if (agent.status === 'stopped') {
    const data = { ...pass.because, ...pass.took, snapshot_id: to, loaded: null };
    return pass.observe({ ...next, operation: null, event: { type: 'agent.restored', data } }, also);
  }
  return pass.observe(
    {
      ...next,
      status: 'provisioning',
      pausedAt: null,
      restoreBack: present?.id ?? null,
      ...(agent.status === 'error' && { crashes: [] }),
      event: { type: 'agent.restoring', data: { ...pass.because, snapshot_id: to } },
    },
    also,
  );
}

/** Ends a restore before anything has changed. */
async function staysAsIs(pass: Pass, why: string, row: SnapshotRow | undefined): Promise<void> {
  const { agent } = pass;
  const event = { type: 'agent.restore_undone', data: { snapshot_id: agent.restoreTo!, why } } as const;
  const code = 'restore_failed';
  const statusReason = { code, message: sentenceOf(event)!, at: new Date() } as const;
  // An agent in error has a reason of its own.
  await pass.observe({ operation: null, ...(agent.status !== 'error' && { statusReason }), event }, async (trx) => {
    if (row !== undefined) await deleteSnapshot(trx, row.id);
  });
}
