import { DiffSnapshotQuery, SnapshotDiff, SnapshotParams } from '@lodge/contract';
import { agentIdPattern } from '@lodge/domain';
import { bounded } from '@lodge/engine';
import type { App } from '../../app-types.ts';
import { presentListing } from '../../guest/listings.ts';
import { guestOfAgent } from '../../guest/live-guest.ts';
import { replySignal } from '../../pipeline/client-gone.ts';
import { transferMs } from '../files/shared.ts';
import { listStillBy, snapshotFileErrors } from './files.ts';
import type { SnapshotFileNeeds } from './files.ts';
import { snapshotIdOf, tags } from './shared.ts';

const schema = {
  operationId: 'diffSnapshot',
  tags,
  summary: 'Compare the workspace of a snapshot',
  description:
    'The files that were added, removed or changed from the snapshot to another one, or to its agent as it is now. Files are compared by type, size and time of the last change. A paused agent is resumed for `to=now`; a stopped one answers 409: compare two of its snapshots instead.',
  params: SnapshotParams,
  querystring: DiffSnapshotQuery,
  response: { 200: { ...SnapshotDiff, 'x-response-description': 'The differences.' } },
};
const config = { rate: 'calls', scopes: ['agents:read'], errors: snapshotFileErrors } as const;

/** `GET /v1/snapshots/:snapshot/diff`. */
export function diffSnapshotRoute(app: App, needs: SnapshotFileNeeds): void {
  app.route({
    method: 'GET',
    url: '/v1/snapshots/:snapshot/diff',
    schema,
    config,
    handler: async (request, reply) => {
      const { snapshotFiles, cut } = needs;
      const { accountId } = request.principal;
      const { to = 'now' } = request.query;
      const id = snapshotIdOf(request);
      const { signal } = bounded(replySignal(reply, cut), transferMs);
      const listStill = listStillBy(needs);
      const answer = ({ changes: data, truncated }: Awaited<ReturnType<typeof snapshotFiles.diff>>) => ({
        object: 'list' as const,
        data: [...data],
        truncated,
      });
      if (to !== 'now') {
        const other = agentIdPattern.test(to) ? to : '';
        return answer(await snapshotFiles.diff({ accountId, id, to: other }, listStill, signal));
      }
      const agentId = await snapshotFiles.agentOf(accountId, id);
      const live = await guestOfAgent(needs, { id: agentId, wake: false, timeoutMs: transferMs }, request, reply);
      const present = await presentListing(live.guest, live.signal);
      return answer(await snapshotFiles.diffTo({ accountId, id, present }, listStill, signal));
    },
  });
}
