/** The beginning of a restore, in one transaction: the present's row, the operation, and where it goes. */
import { Refusal, admitRestore, agentIdPattern, beforeLastTurn, keptPresentDays } from '@lodge/domain';
import {
  beginOfAgent,
  factsOfAgent,
  holdCreates,
  lockAgent,
  othersRunning,
  selectAgent,
  writeAgent,
} from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import type { Queries, Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { findSnapshot, insertSnapshot, readyBefore } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { isAtRest, refusal } from '../agents/act.ts';
import { awaitAgent } from '../agents/await-agent.ts';
import { admitMemory, checkDiskForStart, withRoom } from '../agents/capacity.ts';
import { checkRunning } from '../agents/admission.ts';
import { otherHolders } from '../agents/decisions.ts';
import type { AdmitMemory } from '../agents/decisions.ts';
import type { AgentsDeps } from '../agents/deps.ts';
import { isThere, notFound } from '../agents/reading.ts';
import { checkSnapshotQuota, newSnapshotRow } from './begin.ts';

import { saveFailure } from './failures.ts';
import type { RestoreInput, RestoreParts, SnapshotBounds, SnapshotPlace } from './place.ts';
import { checkUsable, noSnapshot } from './usable.ts';

const dayMs = 86_400_000;

/**
 * Begins a restore; `place.snapshotId` names the snapshot of the present. Refuses with `agent_not_found`,
 * `agent_transitioning`, `agent_not_running`, `snapshot_not_found`, `snapshot_not_ready`, `snapshot_damaged`,
 * `quota_exceeded` or `insufficient_capacity`.
 */
export async function beginRestore(
  deps: AgentsDeps,
  place: SnapshotPlace,
  input: RestoreInput,
  parts: RestoreParts,
): Promise<AgentRow> {
  const { accountId, agentId } = place;
  if (!agentIdPattern.test(agentId)) throw notFound(agentId);
  let needy: AgentRow | null = null;
  const begin = (admit?: AdmitMemory): Promise<AgentRow | null> =>
    deps.database.transaction(async (trx) => {
      if (admit) await holdCreates(trx);
      const locked = await lockAgent(trx, agentId);
      if (locked?.accountId !== accountId || locked.desired === 'deleted') throw notFound(agentId);
      const { row, now } = await factsOfAgent(trx, agentId);
      const target = await targetOf(trx, row, input.snapshot);
      checkRestorable(row);
      // Both hold less memory than they need afterwards, when they run.
      if (row.status === 'paused' || row.status === 'error') {
        checkRunning(deps, await othersRunning(trx, accountId, agentId));
        needy = row;
        if (!admit) return null;
        admit(row, await otherHolders(trx, agentId));
      }
      if (input.savePresent) await insertPresent(trx, place, row, now, parts.bounds);
      await writeAgent(trx, agentId, { restoreTo: target.id, restoreMemory: input.memory, restoreBack: null });
      await beginOfAgent(trx, agentId, 'restore', 'request');
      const event = { type: 'agent.restore_requested', data: { snapshot_id: target.id } } as const;
      await writeNote(trx, { accountId, agentId }, event, parts.note);
      return (await selectAgent(trx, agentId))!;
    });
  const begun = await begin();
  if (begun !== null) return begun;
  const agent: AgentRow = needy!;
  const isHere = agent.host === null || agent.host === deps.holder;
  if (isHere && agent.status === 'error') await checkDiskForStart(deps, agent);
  const admission = async (): Promise<AgentRow | null> => begin(await admitMemory(deps));
  return (await deps.relief.sparing(agentId, () => withRoom(deps, admission)))!;
}

function checkRestorable(row: AgentRow): void {
  const admission = admitRestore(row);
  if (admission.do === 'refuse') throw refusal(admission.code, row);
  if (row.acknowledged) return;
  throw new Refusal('agent_not_running', 'The agent has not run yet, so it has nothing to go back to.', {
    agentId: row.id,
  });
}

/** The snapshot to go back to. That of another agent is none. */
export async function targetOf(trx: Queries, agent: AgentRow, snapshot: string): Promise<SnapshotRow> {
  if (snapshot === beforeLastTurn) {
    const found = await readyBefore(trx, agent.id, agent.turns);
    if (found !== undefined) return found;
    throw new Refusal('snapshot_not_found', 'The agent has no snapshot from before its last turn.');
  }
  const row = agentIdPattern.test(snapshot) ? await findSnapshot(trx, agent.accountId, snapshot) : undefined;
  if (row?.agentId !== agent.id) throw noSnapshot();
  checkUsable(row);
  return row;
}

async function insertPresent(
  trx: Transaction,
  place: SnapshotPlace,
  row: AgentRow,
  now: Date,
  bounds: SnapshotBounds,
): Promise<void> {
  await checkSnapshotQuota(trx, place, bounds);
  const expiresAt = new Date(now.getTime() + keptPresentDays * dayMs);
  const wanted = { kind: 'before_restore', memory: row.status !== 'error', expiresAt } as const;
  await insertSnapshot(trx, newSnapshotRow(row, place.snapshotId, wanted));
}

/**
 * Waits until the restore has ended, `timeoutMs` passed or `signal` aborted, and returns the agent. Refuses with the reason
 * when it did not go back.
 */
export async function awaitRestored(
  deps: AgentsDeps,
  { accountId, agentId, snapshotId }: SnapshotPlace,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<AgentRow> {
  const ended = (row: AgentRow | null): boolean => !isThere(row) || row.accountId !== accountId || isAtRest(row);
  const row = await awaitAgent(deps, agentId, ended, timeoutMs, signal);
  if (!isThere(row) || row.accountId !== accountId) throw notFound(agentId);
  if (!isAtRest(row)) return row;
  const present = await deps.database.repeatable((db) => findSnapshot(db, accountId, snapshotId));
  if (present?.status === 'failed') throw saveFailure(present);
  const { status, statusReason } = row;
  if (
    status === 'error' ||
    statusReason?.code === 'restore_failed' ||
    (status === 'stopped' && statusReason !== null)
  ) {
    throw new Refusal('internal_error', statusReason?.message ?? 'The agent did not go back.', { agentId });
  }
  return row;
}
