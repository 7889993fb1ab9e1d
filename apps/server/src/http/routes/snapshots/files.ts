import {
  ReadFileHeaders,
  ReadSnapshotFileQuery,
  SnapshotFile,
  SnapshotFileList,
  SnapshotFileParams,
  SnapshotParams,
  defaultFileLimit,
  isSet,
} from '@lodge/contract';
import { bounded } from '@lodge/engine';
import type { ListStill, SnapshotFiles } from '@lodge/engine';
import type { ListedFile } from '@lodge/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../app-types.ts';
import { guestErrors } from '../../guest/guest-error.ts';
import { stillListing } from '../../guest/listings.ts';
import type { GuestAccess } from '../../needs.ts';
import { replySignal } from '../../pipeline/client-gone.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { toWire } from '../../reply/to-wire.ts';
import { filePath } from '../files/parts/file.ts';
import { sendFile } from '../files/parts/send-file.ts';
import { transferMs } from '../files/shared.ts';
import { snapshotIdOf, tags } from './shared.ts';

/** For routes of files of snapshots. */
export interface SnapshotFileNeeds extends GuestAccess {
  readonly snapshotFiles: SnapshotFiles;
  readonly cursors: Cursors;
}

/** Refusals of any request for files of a snapshot. */
export const snapshotFileErrors = [
  ...guestErrors,
  'invalid_request',
  'snapshot_not_found',
  'snapshot_not_ready',
  'snapshot_damaged',
] as const;

const bytes = { schema: Type.Unsafe({ type: 'string', format: 'binary' }) };
const description =
  "A file's bytes as the snapshot has them, or with `list=1` what is in a folder. For the bytes the snapshot is opened: its machine is started without a network, nothing in it runs but the daemon that reads the file, and it is gone a minute after the last request. The first request takes as long as a start, or as a boot where the snapshot has no memory that loads; one that takes too long answers 409 `snapshot_not_ready` with `Retry-After` and goes on meanwhile. Bytes are sent as a download, never to be shown by a browser.";
const schema = {
  tags,
  description,
  headers: ReadFileHeaders,
  querystring: ReadSnapshotFileQuery,
  response: {
    200: {
      description: 'The bytes, with ETag, Last-Modified and Accept-Ranges; or the list.',
      content: { 'application/json': { schema: SnapshotFileList }, 'application/octet-stream': bytes },
    },
    206: { description: 'The range that was asked for.', content: { 'application/octet-stream': bytes } },
    304: { description: 'If-None-Match names the version that is there.', type: 'null' },
  },
};
const config = {
  rate: 'calls',
  scopes: ['agents:read'],
  errors: [...snapshotFileErrors, 'file_not_found', 'file_conflict', 'precondition_failed', 'range_not_satisfiable'],
} as const;

/** `GET /v1/snapshots/:snapshot/files/*`. */
export function snapshotFileRoutes(app: App, needs: SnapshotFileNeeds): void {
  const handler = (request: FastifyRequest, reply: FastifyReply) => read(needs, request, reply);
  const options = { method: 'GET', config, compress: false, handler } as const;
  app.route({
    ...options,
    url: '/v1/snapshots/:snapshot/files/*',
    schema: {
      ...schema,
      operationId: 'getSnapshotFile',
      summary: 'Read a file of a snapshot',
      params: SnapshotFileParams,
    },
  });
  app.route({
    ...options,
    url: '/v1/snapshots/:snapshot/files',
    schema: {
      ...schema,
      operationId: 'listSnapshotFiles',
      summary: 'List the workspace of a snapshot',
      params: SnapshotParams,
    },
  });
}

/** Asks the daemon of a guest whose processes are frozen. */
export const listStillBy =
  ({ guestAt }: Pick<GuestAccess, 'guestAt'>): ListStill =>
  (guest, signal) =>
    stillListing(guestAt(guest), signal);

async function read(needs: SnapshotFileNeeds, request: FastifyRequest, reply: FastifyReply) {
  const { snapshotFiles, guestAt, cut } = needs;
  const path = filePath(request);
  const id = snapshotIdOf(request);
  const { signal } = bounded(replySignal(reply, cut), transferMs);
  if (isSet((request.query as ReadSnapshotFileQuery).list)) return list(needs, request, { id, path, signal });
  const { guest, release } = await snapshotFiles.open(request.principal.accountId, id, signal);
  if (signal.aborted) release();
  else signal.addEventListener('abort', release, { once: true });
  return sendFile({ guest: guestAt(guest), signal }, request, reply, path);
}

interface Folder {
  readonly id: string;
  readonly path: string;
  readonly signal: AbortSignal;
}

async function list(needs: SnapshotFileNeeds, request: FastifyRequest, { id, path, signal }: Folder) {
  const { snapshotFiles, cursors } = needs;
  const { accountId } = request.principal;
  const { limit = defaultFileLimit, cursor } = request.query as ReadSnapshotFileQuery;
  // A cursor is a name in one folder of one snapshot.
  const kind = `snapshot-files:${id}:${path}`;
  const after = cursor === undefined ? '' : cursors.open(kind, accountId, cursor);
  const folder = { folder: path, after, limit };
  const page = await snapshotFiles.list({ accountId, id }, folder, listStillBy(needs), signal);
  const data = page.entries.map(record);
  const next = page.more ? (data.at(-1)?.name ?? null) : null;
  return {
    object: 'list' as const,
    data,
    has_more: next !== null,
    next_cursor: cursors.seal(kind, accountId, next),
    truncated: page.truncated,
  };
}

const record = ({ path, type, size, modifiedMs }: ListedFile): SnapshotFile =>
  toWire(SnapshotFile, {
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    type,
    size,
    modifiedAt: new Date(modifiedMs),
  });
