import { Agent, AgentParams, PreferHeaders, RestoreAgent, WaitQuery } from '@lodge/contract';
import { Refusal, makeAgentId } from '@lodge/domain';
import type { FastifyRequest } from 'fastify';
import { randomInt } from 'node:crypto';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import type { AgentReplies, Waiting } from '../../needs.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import { agentHeaders, agentReply, checkAgentId } from '../../reply/agent-record.ts';
import { wantsNoWait } from '../agents/wait.ts';
import type { SnapshotNeeds } from '../snapshots/shared.ts';
import { copyErrors, restorePaths } from './paths.ts';
import type { PathNeeds } from './paths.ts';

const schema = {
  operationId: 'restoreAgent',
  tags: ['Snapshots'],
  summary: 'Take an agent back to a snapshot',
  description:
    "The present is saved first, as a snapshot of the kind `before_restore` that is kept for 30 days; for that the turn in hand ends, within 30 s (else 409 `agent_busy`). Then the machine is that of the snapshot, memory and disk, with the runtime's version of then. A running agent, a paused one and one in `error` run afterwards; a stopped one stays stopped, and its next start begins from the snapshot. Only the machine goes back: settings, schedules, channels, queues and usage stay, and settings are applied again. The agent's next turn begins with a line that says so.\n\nMemory that does not load leaves its disk, which is booted. When that does not start either, the present comes back and the reply is a 500 that says why.\n\nWith `paths` only those files and folders of the workspace are copied into the agent, which must run: each file by a rename, with its permissions; later files stay, and nothing is written when one is missing. One request copies at most 10,000 files.\n\nThe reply comes when that is done: 200. When it takes longer than the lifecycle wait (60 s unless set otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the record as it is: poll the agent then.",
  params: AgentParams,
  headers: PreferHeaders,
  querystring: WaitQuery,
  body: RestoreAgent,
  response: {
    200: { ...Agent, 'x-response-description': 'It is done.', headers: agentHeaders },
    202: { ...Agent, 'x-response-description': 'It is under way.', headers: agentHeaders },
  },
};
const config = {
  scopes: ['agents:write'],
  errors: [
    ...copyErrors,
    'agent_not_found',
    'agent_busy',
    'agent_transitioning',
    'agent_not_running',
    'snapshot_not_found',
    'snapshot_not_ready',
    'snapshot_damaged',
    'quota_exceeded',
    'insufficient_capacity',
  ],
} as const;

/** `POST /v1/agents/:id/restore`. */
export function restoreRoute(app: App, context: SnapshotNeeds & PathNeeds & AgentReplies & Waiting): void {
  const { agents, snapshots, lifecycleWaitMs, closing } = context;
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/restore',
    schema,
    config,
    handler: async (request, reply) => {
      const { id: agentId } = request.params;
      checkAgentId(agentId);
      const { idempotent, principal, body } = request;
      const { accountId } = principal;
      if (body.paths !== undefined) {
        const { snapshot: from, paths } = body;
        const row = await restorePaths(context, { agentId, snapshot: from, paths }, request, reply);
        return reply.send(agentReply(reply, row, context));
      }
      const isRepeated = idempotent?.effective === true && !(await hasFailed(request));
      // The id is decided first: a second attempt of an idempotent request finds the present that the first one saved.
      const isFirst = idempotent !== undefined && !idempotent.effective;
      const snapshotId = isFirst || isRepeated ? idempotent.agentId : makeAgentId(randomInt);
      const place = { accountId, agentId, snapshotId };
      const { snapshot, save_present: savePresent = true, memory = true } = body;
      const begun = isRepeated
        ? await agents.get(accountId, agentId)
        : await snapshots.restore(place, { snapshot, savePresent, memory }, actorNote(request));
      if (wantsNoWait(request, reply)) return reply.code(202).send(agentReply(reply, begun, context));
      const signal = AbortSignal.any([clientGone(reply), closing]);
      const row = await snapshots.awaitRestored(place, lifecycleWaitMs, signal);
      const underWay = row.operation !== null || row.status === 'provisioning';
      return reply.code(underWay ? 202 : 200).send(agentReply(reply, row, context));
    },
  });

  /** Whether an earlier attempt of the request did not save the present: it left the agent as it was, and is begun anew. */
  async function hasFailed({ idempotent, principal }: FastifyRequest): Promise<boolean> {
    const present = await snapshots.get(principal.accountId, idempotent!.agentId).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'snapshot_not_found') return null;
      throw error;
    });
    return present?.status === 'failed';
  }
}
