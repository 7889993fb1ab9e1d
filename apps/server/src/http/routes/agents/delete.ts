import { AgentParams, DeletedAgent, PreferHeaders, WaitQuery } from '@lodge/contract';
import { checkAgentId } from '../../reply/agent-record.ts';
import { changeNote } from '../../identity/change-note.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import type { App } from '../../app-types.ts';
import type { Waiting } from '../../needs.ts';
import { wantsNoWait } from './wait.ts';

const schema = {
  operationId: 'deleteAgent',
  tags: ['Agents'],
  summary: 'Delete an agent',
  description:
    'In any status; while it is being provisioned, that is cancelled. Its disk and its keys are gone for good.',
  params: AgentParams,
  headers: PreferHeaders,
  querystring: WaitQuery,
  response: {
    200: { ...DeletedAgent, 'x-response-description': 'The agent is gone.' },
    202: {
      ...DeletedAgent,
      'x-response-description': 'With `?wait=false`: the agent is gone for the API; its machine is being taken away.',
    },
  },
};
const config = { scopes: ['agents:delete'], errors: ['agent_not_found'] } as const;

export function deleteAgentRoute(app: App, { agents, closing }: Omit<Waiting, 'lifecycleWaitMs'>): void {
  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id',
    schema,
    config,
    handler: async (request, reply) => {
      const { id } = request.params;
      checkAgentId(id);
      const noWait = wantsNoWait(request, reply);
      const signal = noWait ? AbortSignal.abort() : AbortSignal.any([clientGone(reply), closing]);
      await agents.delete(
        request.principal.accountId,
        id,
        signal,
        changeNote(request, { type: 'agent.deleted', data: {} }),
      );
      return reply.code(noWait ? 202 : 200).send({ object: 'agent.deleted' as const, id, deleted: true as const });
    },
  });
}
