import { AgentParams, Fork, ForkAgent, PreferHeaders, WaitQuery } from '@lodge/contract';
import { makeAgentId } from '@lodge/domain';
import type { ForkInput, Forks } from '@lodge/engine';
import type { AgentRow } from '@lodge/store/agents';
import { randomInt } from 'node:crypto';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import type { AgentReplies, Waiting } from '../../needs.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import { agentRecord, checkAgentId } from '../../reply/agent-record.ts';
import { trimName } from '../agents/fields.ts';
import { changeOf } from '../agents/update.ts';
import { wantsNoWait } from '../agents/wait.ts';

const schema = {
  operationId: 'forkAgent',
  tags: ['Snapshots'],
  summary: 'Fork an agent',
  description:
    "Makes agents that go on from where this one is, or was at a `snapshot` of it: with its memory, files, members, skills and settings, and with an id, an address and credentials of their own. It goes on itself, once its turn in hand has ended (within 30 s, else 409 `agent_busy`). Room and quotas are admitted for all of them or for none; from then on each stands alone. They get no channels, hooks, links and consents, and what `include` names only there. Their spend limit is a part of this one's. The next turn of each begins with a line that says which fork it is.\n\nThe save is always waited for. The reply comes when the forks run: 201. When that takes longer than the create wait (60 s unless set otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with forks in `provisioning`: poll these then.",
  params: AgentParams,
  headers: PreferHeaders,
  querystring: WaitQuery,
  body: ForkAgent,
  response: {
    201: { ...Fork, 'x-response-description': 'None of them is in `provisioning` any more.' },
    202: { ...Fork, 'x-response-description': 'Some of them are in `provisioning`.' },
  },
};
const config = {
  rate: 'creates',
  scopes: ['agents:write'],
  errors: [
    'agent_not_found',
    'snapshot_not_found',
    'snapshot_not_ready',
    'snapshot_damaged',
    'agent_busy',
    'agent_transitioning',
    'agent_not_running',
    'quota_exceeded',
    'insufficient_capacity',
  ],
} as const;

interface Needs extends AgentReplies, Waiting {
  readonly forks: Forks;
  /** How long a create waits for the agent to run before it answers 202. */
  readonly createWaitMs: number;
}

/** `POST /v1/agents/:id/fork`. */
export function forkRoute(app: App, needs: Needs): void {
  const { agents, forks, createWaitMs, closing } = needs;
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/fork',
    schema,
    config,
    preValidation: trimName,
    handler: async (request, reply) => {
      const { id: agentId } = request.params;
      checkAgentId(agentId);
      const { accountId } = request.principal;
      const { idempotent } = request;
      request.scope.fields.agent_id = agentId;
      const input = inputOf(request.body);
      // The first id is decided first: a second attempt of an idempotent request finds the first one's forks.
      const place = { accountId, agentId, firstId: idempotent?.agentId ?? makeAgentId(randomInt) };
      const made = idempotent?.effective
        ? await forks.made(place, input.count)
        : await forks.make(place, input, { note: actorNote(request), signal: closing });
      const rows = wantsNoWait(request, reply) ? made : await settled(made, reply);
      const isUnderWay = rows.some(({ status }) => status === 'provisioning');
      const snapshot = made[0]?.forkedFrom?.snapshot_id ?? input.snapshot ?? place.firstId;
      const data = rows.map((row) => agentRecord(row, needs));
      return reply.code(isUnderWay ? 202 : 201).send({ object: 'fork', snapshot, data });
    },
  });

  /** Each as it is once it runs, or when the wait is over. One that is deleted meanwhile is left out. */
  async function settled(made: readonly AgentRow[], reply: Parameters<typeof clientGone>[0]): Promise<AgentRow[]> {
    const signal = AbortSignal.any([clientGone(reply), closing]);
    const waits = made.map(({ accountId, id }) => agents.awaitStatus(accountId, id, createWaitMs, signal));
    return (await Promise.all(waits)).filter((row) => row !== null);
  }
}

function inputOf({
  name,
  count = 1,
  snapshot,
  include = [],
  llm_keys: llmKeys = 'copy',
  ...body
}: ForkAgent): ForkInput {
  const { llmKeys: _keys, name: _name, ...change } = changeOf(body);
  return { name, count, snapshot, include, llmKeys, change };
}
