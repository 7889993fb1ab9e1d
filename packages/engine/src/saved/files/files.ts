/**
 * Files of snapshots. Folders and differences are read from the listings that were saved; a snapshot without one is opened and
 * its daemon asked, as for the bytes of a file. Each use-case refuses with `snapshot_not_found` where
 * the account has no such snapshot.
 */
import type { GuestAddress } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { changesBetween, listingFrom, pageOf } from './listing.ts';
import type { FolderQuery, Listing } from './listing.ts';
import type { SnapshotUse, OpenedSnapshots } from './opened.ts';
import { targetOf } from '../restore.ts';
import { usableSnapshot } from '../usable.ts';

export interface SnapshotFilesDeps {
  readonly database: Database;
  readonly opened: Pick<OpenedSnapshots, 'use' | 'listing'>;
  /** Longest wait for a snapshot to be opened. */
  readonly openMs: number;
}

/** Lists the workspace of a guest whose processes are frozen, by its daemon. */
export type ListStill = (guest: GuestAddress, signal: AbortSignal) => Promise<Listing>;

export type SnapshotFiles = ReturnType<typeof createSnapshotFiles>;

export function createSnapshotFiles({ database, opened, openMs }: SnapshotFilesDeps) {
  const find = (accountId: string, id: string): Promise<SnapshotRow> =>
    database.repeatable((db) => usableSnapshot(db, accountId, id));

  async function listingOf(row: SnapshotRow, listStill: ListStill, signal: AbortSignal): Promise<Listing> {
    const saved = await opened.listing(row);
    if (saved !== null) return listingFrom(saved);
    const { guest, release } = await opened.use(row, openMs, signal);
    try {
      return await listStill(guest, signal);
    } finally {
      release();
    }
  }

  return {
    /** Opens a snapshot for reading. Refuses as `OpenedSnapshots.use` does. */
    async open(accountId: string, id: string, signal: AbortSignal): Promise<SnapshotUse> {
      return opened.use(await find(accountId, id), openMs, signal);
    },
    /** Opens a snapshot of an agent for reading, by its id or by `before_last_turn`. */
    async openOf(agent: AgentRow, snapshot: string, signal: AbortSignal): Promise<SnapshotUse> {
      const row = await database.repeatable((db) => targetOf(db, agent, snapshot));
      return opened.use(row, openMs, signal);
    },
    /** One page of a folder, by name. Refuses with `file_not_found` or `file_conflict` where there is no such folder. */
    async list(
      { accountId, id }: { readonly accountId: string; readonly id: string },
      query: FolderQuery,
      listStill: ListStill,
      signal: AbortSignal,
    ) {
      const listing = await listingOf(await find(accountId, id), listStill, signal);
      return pageOf(listing, query);
    },
    /** The differences from a snapshot to another of the account. */
    async diff(
      { accountId, id, to }: { readonly accountId: string; readonly id: string; readonly to: string },
      listStill: ListStill,
      signal: AbortSignal,
    ) {
      const [earlier, later] = [await find(accountId, id), await find(accountId, to)];
      const before = await listingOf(earlier, listStill, signal);
      return changesBetween(before, await listingOf(later, listStill, signal));
    },
    /** The agent of a snapshot, whose present is to be compared with it. */
    async agentOf(accountId: string, id: string): Promise<string> {
      return (await find(accountId, id)).agentId;
    },
    /** The differences from a snapshot to the text of a listing of its agent as it is. */
    async diffTo(
      { accountId, id, present }: { readonly accountId: string; readonly id: string; readonly present: string },
      listStill: ListStill,
      signal: AbortSignal,
    ) {
      const before = await listingOf(await find(accountId, id), listStill, signal);
      return changesBetween(before, await listingFrom(present));
    },
  };
}
