/** Snapshots: rows of machines at rest. The driver has the machine of each under the row's id. */
import type { SnapshotErrorCode, SnapshotKind, SnapshotLoads } from '@lodge/domain';
import { sql } from 'kysely';
import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { Snapshots } from '../database/tables.ts';

export type SnapshotRow = Selectable<Snapshots>;

export interface SnapshotFilter {
  readonly accountId: string;
  readonly agentId?: string;
  readonly kind?: SnapshotKind;
  /** The last snapshot of the page before. */
  readonly before?: { readonly createdAt: Date; readonly id: string };
  readonly limit: number;
}

/** Newest first. */
export const snapshotPage = (
  db: Queries,
  { accountId, agentId, kind, before, limit }: SnapshotFilter,
): Promise<readonly SnapshotRow[]> =>
  db
    .selectFrom('snapshots')
    .selectAll()
    .where('accountId', '=', accountId)
    .$if(agentId !== undefined, (query) => query.where('agentId', '=', agentId!))
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind!))
    .$if(before !== undefined, (query) =>
      query.where((eb) => eb(eb.refTuple('createdAt', 'id'), '<', eb.tuple(before!.createdAt, before!.id))),
    )
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

export const findSnapshot = (db: Queries, accountId: string, id: string): Promise<SnapshotRow | undefined> =>
  db.selectFrom('snapshots').selectAll().where('id', '=', id).where('accountId', '=', accountId).executeTakeFirst();

/** Locks the row until the transaction ends. */
export const lockSnapshot = (trx: Transaction, accountId: string, id: string): Promise<SnapshotRow | undefined> =>
  trx
    .selectFrom('snapshots')
    .selectAll()
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .forUpdate()
    .executeTakeFirst();

/** The snapshot that is being saved of the agent. */
export const savingOf = (db: Queries, agentId: string): Promise<SnapshotRow | undefined> =>
  db
    .selectFrom('snapshots')
    .selectAll()
    .where('agentId', '=', agentId)
    .where('status', '=', 'saving')
    .executeTakeFirst();

/** The agent's newest ready snapshot from before its turn of this number. */
export const readyBefore = (db: Queries, agentId: string, turns: number): Promise<SnapshotRow | undefined> =>
  db
    .selectFrom('snapshots')
    .selectAll()
    .where('agentId', '=', agentId)
    .where('status', '=', 'ready')
    .where('turns', '<', turns)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

export const insertSnapshot = (trx: Transaction, row: Insertable<Snapshots>): Promise<SnapshotRow> =>
  trx.insertInto('snapshots').values(row).returningAll().executeTakeFirstOrThrow();

export const writeSnapshot = (trx: Transaction, id: string, change: Updateable<Snapshots>): Promise<SnapshotRow> =>
  trx.updateTable('snapshots').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

/** Digests of what a machine has in effect, as in its agent's row; null where unknown. */
export type Contents = Pick<SnapshotRow, 'settingsApplied' | 'packagesApplied' | 'skillsApplied'>;

/** A machine that was saved. */
export interface Saved extends Contents {
  readonly memory: boolean;
  readonly loads: SnapshotLoads;
  readonly bytes: number;
  readonly diskBytes: number;
  readonly heldBytes: number;
  readonly templateId: string | null;
  readonly runtimeVersion: string | null;
}

const ready = { status: 'ready', error: null, errorCode: null } as const;

/** Marks the snapshot ready. Undefined when it is no longer being saved. */
export const endSaving = (trx: Transaction, id: string, saved: Saved): Promise<SnapshotRow | undefined> =>
  trx
    .updateTable('snapshots')
    .set({ ...saved, ...ready })
    .where('id', '=', id)
    .where('status', '=', 'saving')
    .returningAll()
    .executeTakeFirst();

/** Marks the agent's snapshot failed that is being saved. Undefined when none is. */
export const failSaving = (
  trx: Transaction,
  agentId: string,
  error: string,
  errorCode: SnapshotErrorCode | null = null,
): Promise<SnapshotRow | undefined> =>
  trx
    .updateTable('snapshots')
    .set({ status: 'failed', error, errorCode })
    .where('agentId', '=', agentId)
    .where('status', '=', 'saving')
    .returningAll()
    .executeTakeFirst();

/** Marks a ready snapshot damaged. Undefined when it is not ready any more. */
export const markDamaged = (trx: Transaction, id: string, error: string): Promise<SnapshotRow | undefined> =>
  trx
    .updateTable('snapshots')
    .set({ status: 'damaged', error })
    .where('id', '=', id)
    .where('status', '=', 'ready')
    .returningAll()
    .executeTakeFirst();

export const deleteSnapshot = (trx: Transaction, id: string): Promise<SnapshotRow | undefined> =>
  trx.deleteFrom('snapshots').where('id', '=', id).returningAll().executeTakeFirst();

/** Deletes the snapshots of an agent that is gone, but pinned ones. One of these that is still being saved has failed. */
export async function endSnapshotsOf(trx: Transaction, agentId: string): Promise<readonly SnapshotRow[]> {
  await failSaving(trx, agentId, 'The agent was deleted meanwhile.');
  return trx
    .deleteFrom('snapshots')
    .where('agentId', '=', agentId)
    .where((eb) => eb.or([eb('pinned', '=', false), eb('status', '=', 'failed')]))
    .returningAll()
    .execute();
}

/** Snapshots of the agent that hold a machine or will. */
export async function countSnapshots(db: Queries, agentId: string): Promise<number> {
  const { n } = await db
    .selectFrom('snapshots')
    .select((eb) => eb.fn.countAll<string>().as('n'))
    .where('agentId', '=', agentId)
    .where('status', '<>', 'failed')
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Bytes that the account's snapshots hold. */
export async function snapshotBytes(db: Queries, accountId: string): Promise<number> {
  const { n } = await db
    .selectFrom('snapshots')
    .select(sql<string>`coalesce(sum(bytes + disk_bytes), 0)`.as('n'))
    .where('accountId', '=', accountId)
    .where('status', '<>', 'failed')
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Says that the machines of all snapshots are on that host, after a restore of all of them. */
export async function putSnapshotsOn(trx: Transaction, host: string): Promise<void> {
  await trx.updateTable('snapshots').set({ host }).where('host', 'is not', null).execute();
}
