/** Agents that are made from a snapshot instead of a template. */
import { Refusal, madeFromNote, sizes } from '@lodge/domain';
import type { RuntimeKind, SizeName } from '@lodge/domain';
import type { NewAgent } from '@lodge/store/agents';
import type { Database, Transaction } from '@lodge/store/database';
import { lockSnapshot } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { checkUsable, noSnapshot, usableSnapshot } from '../usable.ts';

/** Returns the account's snapshot if an agent of this kind and size can be made from it; what is left out is the snapshot's. */
export async function snapshotToMake(
  database: Database,
  accountId: string,
  id: string,
  { runtimeKind, size }: { readonly runtimeKind?: RuntimeKind | undefined; readonly size?: SizeName | undefined },
): Promise<SnapshotRow> {
  const snapshot = await database.repeatable((db) => usableSnapshot(db, accountId, id));
  if (runtimeKind !== undefined && runtimeKind !== snapshot.runtimeKind) {
    throw new Refusal('invalid_request', `runtime_kind must be that of the snapshot: ${snapshot.runtimeKind}.`);
  }
  checkSizeOf(snapshot, size);
  return snapshot;
}

/** A machine's memory and disk do not get smaller. */
export function checkSizeOf({ size: least }: Pick<SnapshotRow, 'size'>, size: SizeName | undefined): void {
  if (size === undefined || sizes[size].memoryMib >= sizes[least].memoryMib) return;
  throw new Refusal('invalid_request', `size must not be smaller than that of the snapshot: ${least}.`);
}

/** Keeps the snapshot until the transaction ends. From then on the agent's row keeps its machine. */
export async function holdSnapshot(
  trx: Transaction,
  { accountId, id }: Pick<SnapshotRow, 'accountId' | 'id'>,
): Promise<SnapshotRow> {
  const row = await lockSnapshot(trx, accountId, id);
  if (row === undefined) throw noSnapshot();
  checkUsable(row);
  return row;
}

type Origin = Required<
  Pick<
    NewAgent,
    | 'host'
    | 'nextFrom'
    | 'nextMemory'
    | 'forkedFrom'
    | 'templateId'
    | 'runtimeVersion'
    | 'settingsApplied'
    | 'packagesApplied'
    | 'skillsApplied'
  >
>;

/**
 * The fields of a new agent whose first start begins from the snapshot. Only the snapshot's host has its machine. Settings,
 * packages and skills are applied again, because those of the machine are another agent's.
 */
export const originIn = (snapshot: SnapshotRow, withBrowser: boolean): Origin => ({
  host: snapshot.host,
  nextFrom: snapshot.id,
  nextMemory: snapshot.memory,
  forkedFrom: {
    agent_id: snapshot.agentId,
    snapshot_id: snapshot.id,
    at: snapshot.createdAt.toISOString(),
    ...(withBrowser && { browser: true as const }),
  },
  templateId: snapshot.templateId,
  runtimeVersion: snapshot.runtimeVersion,
  settingsApplied: null,
  packagesApplied: null,
  skillsApplied: null,
});

/** The same of an agent that has every other setting by its create. */
export const madeFrom = (
  snapshot: SnapshotRow,
  { id, name, withBrowser }: { readonly id: string; readonly name: string; readonly withBrowser: boolean },
) => ({
  ...originIn(snapshot, withBrowser),
  turnNote: madeFromNote({ id, name }, snapshot.agentId),
});
