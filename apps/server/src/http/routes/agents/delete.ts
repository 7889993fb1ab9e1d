import { AgentParams, DeletedAgent, NoQuery } from '@lodge/contract';
import { checkAgentId } from '../../agent-record.ts';
import { clientGone } from '../../client-gone.ts';
import type { App, HttpContext } from '../../context.ts';

const schema = {
  operationId: 'deleteAgent',
  tags: ['Agents'],
  summary: 'Delete an agent',
  description:
    'In any status; while it is being provisioned, that is cancelled. Its disk and its keys are gone for good.',
  params: AgentParams,
  querystring: NoQuery,
  response: { 200: { ...DeletedAgent, 'x-response-description': 'The agent is gone.' } },
};
const config = { scopes: ['agents:delete'], errors: ['agent_not_found'] } as const;

export function deleteAgentRoute(app: App, { agents, closing }: HttpContext): void {
  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id',
    schema,
    config,
    handler: async (request, reply) => {
      const { id } = request.params;
      checkAgentId(id);
      await agents.delete(request.principal.accountId, id, AbortSignal.any([clientGone(reply), closing]));
      return { object: 'agent.deleted' as const, id, deleted: true as const };
    },
  });
}
