/**
 * Snapshots, as their owners see them. Each use-case of one agent refuses with `agent_not_found` where the account has no such
 * agent; each of one snapshot with `snapshot_not_found` where the account has no such snapshot.
 */
import { Refusal, agentIdPattern, maxSnapshots } from '@lodge/domain';
import type { SnapshotKind } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import type { Store } from '@lodge/store';
import { databaseTime, notify } from '@lodge/store/database';
import type { Database } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { findSnapshot, lockSnapshot, snapshotBytes, snapshotPage, writeSnapshot } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';
import type { Agents } from '../agents/agents.ts';
import type { AgentRow } from '@lodge/store/agents';
import { awaitAgent } from '../agents/await-agent.ts';
import { beginSave } from './begin.ts';
import type { NewSnapshot } from './begin.ts';
import { dropRow } from './ends.ts';
import { saveFailure } from './failures.ts';
import type { RestoreInput, SnapshotBounds, SnapshotPlace } from './place.ts';
import { noSnapshot } from './usable.ts';

export interface SnapshotsDeps extends Pick<Store, 'changes'> {
  readonly database: Database;
  readonly agents: Pick<Agents, 'get' | 'restore' | 'awaitRestored'>;
  readonly bounds: SnapshotBounds;
}

/** A change of a snapshot; fields that are left out stay as they are. */
export interface SnapshotChange {
  readonly name?: string | null | undefined;
  readonly note?: string | null | undefined;
  readonly pinned?: boolean | undefined;
  readonly expiresAt?: Date | null | undefined;
}

export interface SnapshotQuery {
  readonly agentId?: string;
  readonly kind?: SnapshotKind;
  readonly before?: { readonly createdAt: Date; readonly id: string };
  readonly limit: number;
}

export type Snapshots = ReturnType<typeof createSnapshots>;

export const createSnapshots = (deps: SnapshotsDeps) => ({ ...reads(deps), ...writes(deps) });

async function getSnapshot({ database }: Pick<SnapshotsDeps, 'database'>, accountId: string, id: string) {
  const row = agentIdPattern.test(id) ? await database.repeatable((db) => findSnapshot(db, accountId, id)) : undefined;
  if (row === undefined) throw noSnapshot();
  return row;
}

const reads = (deps: SnapshotsDeps) => ({
  get: (accountId: string, id: string): Promise<SnapshotRow> => getSnapshot(deps, accountId, id),
  /**
   * Waits until the snapshot is no longer being saved, `timeoutMs` passed or `signal` aborted, and returns it. Refuses with the
   * reason when the save failed.
   */
  async awaitSaved({ id, accountId, agentId }: SnapshotRow, timeoutMs: number, signal: AbortSignal) {
    await awaitAgent(deps, agentId, (agent) => agent === null || !isSaving(agent), timeoutMs, signal);
    const row = await getSnapshot(deps, accountId, id);
    if (row.status === 'failed') throw saveFailure(row);
    return row;
  },
  /** Waits for the end of a restore. Refuses with the reason when the agent did not go back. */
  awaitRestored: (place: SnapshotPlace, timeoutMs: number, signal: AbortSignal): Promise<AgentRow> =>
    deps.agents.awaitRestored(place, timeoutMs, signal),
  /** Newest first. */
  async ofAgent(accountId: string, agentId: string, query: SnapshotQuery): Promise<readonly SnapshotRow[]> {
    await deps.agents.get(accountId, agentId);
    return deps.database.repeatable((db) => snapshotPage(db, { ...query, accountId, agentId }));
  },
  /** Those of all agents, newest first. */
  list: (accountId: string, query: SnapshotQuery): Promise<readonly SnapshotRow[]> =>
    deps.database.repeatable((db) => snapshotPage(db, { ...query, accountId })),
  /** The bounds on an account's snapshots, and what it has. */
  async standing(accountId: string) {
    const bytes = await deps.database.repeatable((db) => snapshotBytes(db, accountId));
    return { perAgent: maxSnapshots, gib: deps.bounds.accountGib, usedGib: bytes / 2 ** 30 };
  },
});

const isSaving = ({ operation }: AgentRow): boolean => operation?.kind === 'snapshot' || operation?.kind === 'restore';

const writes = ({ database, agents, bounds }: SnapshotsDeps) => ({
  /** Begins to save the agent under this id. Refuses as `beginSave` does, or with `invalid_request`. */
  async create(place: SnapshotPlace, input: Omit<NewSnapshot, 'kind'>, note?: ActorNote): Promise<SnapshotRow> {
    await agents.get(place.accountId, place.agentId);
    await checkExpiry(database, input.expiresAt);
    const row = await beginSave(database, place, { ...input, kind: 'named' }, { cause: 'request', bounds, note });
    return row!;
  },
  /** Begins to go back to a snapshot; `place` names the one of the present. Refuses as `beginRestore` does. */
  restore: (place: SnapshotPlace, input: RestoreInput, note?: ActorNote): Promise<AgentRow> =>
    agents.restore(place, input, { bounds, note }),
  async update(accountId: string, id: string, change: SnapshotChange, note?: ActorNote): Promise<SnapshotRow> {
    await getSnapshot({ database }, accountId, id);
    await checkExpiry(database, change.expiresAt);
    return database.transaction(async (trx) => {
      const row = await lockSnapshot(trx, accountId, id);
      if (row === undefined) throw noSnapshot();
      const fields = changedFields(row, change);
      if (fields.length === 0) return row;
      const changed = await writeSnapshot(trx, id, change);
      const { agentId, kind } = row;
      const data = { snapshot_id: id, kind, fields };
      await writeNote(trx, { accountId, agentId }, { type: 'snapshot.updated', data }, note);
      return changed;
    });
  },
  /** Deletes a snapshot; its machine is freed soon after. Refuses with `snapshot_not_ready` while it is being saved. */
  async remove(accountId: string, id: string, note?: ActorNote): Promise<void> {
    await getSnapshot({ database }, accountId, id);
    await database.transaction(async (trx) => {
      const row = await lockSnapshot(trx, accountId, id);
      if (row === undefined) throw noSnapshot();
      if (row.status === 'saving') {
        throw new Refusal('snapshot_not_ready', 'The snapshot is being saved. Delete it once that has ended.', {
          retryAfterSeconds: 5,
        });
      }
      await notify(trx, id, 'snapshot_gone');
      await dropRow(trx, row, 'request', note);
    });
  },
});

async function checkExpiry(database: Database, expiresAt: Date | null | undefined): Promise<void> {
  if (!expiresAt) return;
  const now = await database.repeatable(databaseTime);
  if (expiresAt <= now) throw new Refusal('invalid_request', 'expires_at must be in the future.');
}

function changedFields(row: SnapshotRow, { name, note, pinned, expiresAt }: SnapshotChange): string[] {
  return [
    ...(name !== undefined && name !== row.name ? ['name'] : []),
    ...(note !== undefined && note !== row.note ? ['note'] : []),
    ...(pinned !== undefined && pinned !== row.pinned ? ['pinned'] : []),
    ...(expiresAt !== undefined && expiresAt?.getTime() !== row.expiresAt?.getTime() ? ['expires_at'] : []),
  ];
}
