/** The beginning of a save: the snapshot's row and the operation that saves it, in one transaction. */
import { Refusal, admitSave, maxSnapshots } from '@lodge/domain';
import type { OperationCause, SnapshotKind } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import { beginOfAgent, factsOfAgent, lockAgent } from '@lodge/store/agents';
import type { AgentFacts, AgentRow } from '@lodge/store/agents';
import type { Database, Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { countSnapshots, insertSnapshot, snapshotBytes } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { refusal } from '../agents/act.ts';
import { notFound } from '../agents/reading.ts';
import type { SnapshotBounds, SnapshotPlace } from './place.ts';

/** A snapshot to be saved. */
export interface NewSnapshot {
  readonly kind: SnapshotKind;
  readonly memory: boolean;
  readonly name?: string | null | undefined;
  readonly note?: string | null | undefined;
  readonly pinned?: boolean | undefined;
  readonly expiresAt?: Date | null | undefined;
}

interface Beginning {
  readonly cause: OperationCause;
  readonly bounds: SnapshotBounds;
  readonly note?: ActorNote | undefined;
  /** Says under the row's lock whether the save is still wanted; without it, it is. */
  readonly isWanted?: (facts: AgentFacts) => boolean;
}

/**
 * Begins to save the agent. Refuses with `agent_not_found`, `agent_transitioning`, `agent_not_running` or `quota_exceeded`.
 * Undefined when it is not wanted any more.
 */
export async function beginSave(
  database: Database,
  place: SnapshotPlace,
  wanted: NewSnapshot,
  { cause, bounds, note, isWanted = () => true }: Beginning,
): Promise<SnapshotRow | undefined> {
  const { accountId, agentId } = place;
  return database.transaction(async (trx) => {
    const locked = await lockAgent(trx, agentId);
    if (locked?.accountId !== accountId || locked.desired === 'deleted') throw notFound(agentId);
    const facts = await factsOfAgent(trx, agentId);
    if (!isWanted(facts)) return undefined;
    const { row } = facts;
    checkSavable(row, wanted.memory);
    await checkSnapshotQuota(trx, place, bounds);
    const made = await insertSnapshot(trx, newSnapshotRow(row, place.snapshotId, wanted));
    await beginOfAgent(trx, agentId, 'snapshot', cause);
    const data = { snapshot_id: made.id, kind: made.kind, name: made.name };
    await writeNote(trx, { accountId, agentId }, { type: 'snapshot.requested', data }, note);
    return made;
  });
}

function checkSavable(row: AgentRow, memory: boolean): void {
  const admission = admitSave(row, memory);
  if (admission.do !== 'refuse' && row.acknowledged) return;
  if (admission.do === 'refuse' && admission.code === 'agent_transitioning') throw refusal(admission.code, row);
  const message = row.acknowledged
    ? 'The agent is in error, so only its disk can be saved: ask with "memory": false.'
    : 'The agent has not run yet, so there is nothing to save.';
  throw new Refusal('agent_not_running', message, { agentId: row.id });
}

/** The row of a snapshot that is about to be saved of the agent. */
export const newSnapshotRow = (
  agent: AgentRow,
  id: string,
  { kind, memory, name, note, pinned, expiresAt }: NewSnapshot,
) => ({
  id,
  accountId: agent.accountId,
  agentId: agent.id,
  host: agent.host,
  kind,
  memory,
  name: name ?? null,
  note: note ?? null,
  pinned: pinned ?? false,
  expiresAt: expiresAt ?? null,
  runtimeKind: agent.runtimeKind,
  runtimeVersion: agent.runtimeVersion,
  size: agent.size,
  templateId: agent.templateId,
  turns: agent.turns,
});

/** Refuses one snapshot too many of the agent, or of its account by bytes. The bytes are those of saves that have ended. */
export async function checkSnapshotQuota(
  trx: Transaction,
  { accountId, agentId }: Pick<SnapshotPlace, 'accountId' | 'agentId'>,
  { accountGib }: SnapshotBounds,
): Promise<void> {
  if ((await countSnapshots(trx, agentId)) >= maxSnapshots) {
    throw new Refusal('quota_exceeded', `An agent may have ${maxSnapshots} snapshots. Delete one first.`);
  }
  if ((await snapshotBytes(trx, accountId)) >= accountGib * 2 ** 30) {
    throw new Refusal(
      'quota_exceeded',
      `The snapshots of this account hold its ${accountGib} GiB. Delete some of them first.`,
    );
  }
}
