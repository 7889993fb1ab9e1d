import { AgentParams, CreateSnapshot, PreferHeaders, Snapshot, WaitQuery } from '@lodge/contract';
import { makeAgentId } from '@lodge/domain';
import type { SnapshotRow } from '@lodge/engine';
import type { FastifyRequest } from 'fastify';
import { randomInt } from 'node:crypto';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import type { Waiting } from '../../needs.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { trimName } from '../agents/fields.ts';
import { wantsNoWait } from '../agents/wait.ts';
import { snapshotPath, snapshotRecord, tags } from './shared.ts';
import type { SnapshotNeeds } from './shared.ts';

const headers = { Location: { type: 'string', description: 'Path of the snapshot.' } };

const schema = {
  operationId: 'createSnapshot',
  tags,
  summary: 'Save an agent as a snapshot',
  description:
    'The machine is saved as it is, memory and disk, and goes on. A running agent ends its turn first, within 30 s (else 409 `agent_busy`); messages that come meanwhile wait. A paused agent stays paused; of a stopped one nothing is copied. With `memory` false the disk alone is saved and no turn is waited for; an agent in `error` has no more than that. When the save fails, the agent is as it was.\n\nThe reply comes when it is saved: 201. When that takes longer than the lifecycle wait (60 s unless set otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the snapshot in `saving`: poll it then.',
  params: AgentParams,
  headers: PreferHeaders,
  querystring: WaitQuery,
  body: CreateSnapshot,
  response: {
    201: { ...Snapshot, 'x-response-description': 'It is saved.', headers },
    202: { ...Snapshot, 'x-response-description': 'It is being saved.', headers },
  },
};
const config = {
  scopes: ['agents:write'],
  errors: [
    'agent_not_found',
    'agent_busy',
    'agent_transitioning',
    'agent_not_running',
    'quota_exceeded',
    'insufficient_capacity',
  ],
} as const;

/** `POST /v1/agents/:id/snapshots`. */
export function createSnapshotRoute(app: App, { snapshots, lifecycleWaitMs, closing }: SnapshotNeeds & Waiting): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/snapshots',
    schema,
    config,
    preValidation: trimName,
    handler: async (request, reply) => {
      const { id: agentId } = request.params;
      checkAgentId(agentId);
      const { accountId } = request.principal;
      const begun = (await repeated(request)) ?? (await begin(request, { accountId, agentId }));
      request.scope.fields.agent_id = agentId;
      reply.header('location', snapshotPath(begun.id));
      if (wantsNoWait(request, reply)) return reply.code(202).send(snapshotRecord(begun));
      const signal = AbortSignal.any([clientGone(reply), closing]);
      const row = await snapshots.awaitSaved(begun, lifecycleWaitMs, signal);
      return reply.code(row.status === 'saving' ? 202 : 201).send(snapshotRecord(row));
    },
  });

  /** The snapshot that an earlier attempt of the request began; one that failed is begun anew. */
  async function repeated({ idempotent, principal }: FastifyRequest): Promise<SnapshotRow | null> {
    if (!idempotent?.effective) return null;
    const row = await snapshots.get(principal.accountId, idempotent.agentId);
    return row.status === 'failed' ? null : row;
  }

  function begin(
    request: FastifyRequest,
    place: { readonly accountId: string; readonly agentId: string },
  ): Promise<SnapshotRow> {
    const { idempotent } = request;
    const { expires_at: expiresAt, memory = true, ...given } = request.body as CreateSnapshot;
    // The id is decided first: a second attempt of an idempotent request finds the first one's snapshot.
    const isFirst = idempotent !== undefined && !idempotent.effective;
    const snapshotId = isFirst ? idempotent.agentId : makeAgentId(randomInt);
    const input = { ...given, memory, ...(expiresAt && { expiresAt: new Date(expiresAt) }) };
    return snapshots.create({ ...place, snapshotId }, input, actorNote(request));
  }
}
