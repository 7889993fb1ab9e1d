import { abilitiesOf, agentIdPattern } from '@lodge/domain';
import { Snapshot } from '@lodge/contract';
import type { SnapshotQuery, SnapshotRow, Snapshots } from '@lodge/engine';
import { InvalidCursorError } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';
import type { Cursors } from '../../reply/cursors.ts';
import { pageReply } from '../../reply/page.ts';
import { toWire } from '../../reply/to-wire.ts';

/** For routes of snapshots. */
export interface SnapshotNeeds {
  readonly snapshots: Snapshots;
  readonly cursors: Cursors;
}

export const tags = ['Snapshots'];

/** The snapshot that the request's path names. No id of Lodge's has other characters: an empty one belongs to nobody. */
export function snapshotIdOf({ params }: FastifyRequest): string {
  const { snapshot } = params as { readonly snapshot: string };
  return agentIdPattern.test(snapshot) ? snapshot : '';
}

export const snapshotPath = (id: string): string => `/v1/snapshots/${id}`;

export const snapshotRecord = (row: SnapshotRow): Snapshot =>
  toWire(Snapshot, {
    ...row,
    runtime: { name: abilitiesOf(row.runtimeKind).name, version: row.runtimeVersion },
    bytes: Number(row.bytes),
    diskBytes: Number(row.diskBytes),
  });

interface ListQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly kind?: Snapshot['kind'];
}

/** One page of a list, which `read` reads. `list` names the list for its cursors. */
export async function snapshotList(
  cursors: Cursors,
  { accountId, list }: { readonly accountId: string; readonly list: string },
  { limit = 20, cursor, kind }: ListQuery,
  read: (query: SnapshotQuery) => Promise<readonly SnapshotRow[]>,
) {
  const before = cursor === undefined ? undefined : positionOf(cursors.open(list, accountId, cursor));
  const rows = await read({
    limit: limit + 1,
    ...(kind !== undefined && { kind }),
    ...(before !== undefined && { before }),
  });
  return pageReply(rows, {
    limit,
    record: snapshotRecord,
    cursorOf: ({ createdAt, id }) => cursors.seal(list, accountId, `${createdAt.getTime()}.${id}`),
  });
}

function positionOf(cursor: string) {
  const [, milliseconds, id = ''] = /^(\d{1,15})\.([a-z0-9]{12})$/.exec(cursor) ?? [];
  if (milliseconds === undefined) throw new InvalidCursorError();
  return { createdAt: new Date(Number(milliseconds)), id };
}
