import { Refusal } from '@lodge/domain';
import { Agent, AgentParams, GetAgentQuery } from '@lodge/contract';
import { agentHeaders, agentReply, checkAgentId } from '../../reply/agent-record.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import type { App } from '../../app-types.ts';
import type { AgentReplies, Waiting } from '../../needs.ts';

const schema = {
  operationId: 'getAgent',
  tags: ['Agents'],
  summary: 'Read an agent',
  params: AgentParams,
  querystring: GetAgentQuery,
  response: { 200: { ...Agent, 'x-response-description': 'The agent.', headers: agentHeaders } },
};
const config = { scopes: ['agents:read'], errors: ['agent_not_found'] } as const;

const defaultTimeoutSeconds = 30;

export function getAgentRoute(app: App, context: AgentReplies & Pick<Waiting, 'closing'>): void {
  const { agents, closing } = context;
  app.route({
    method: 'GET',
    url: '/v1/agents/:id',
    schema,
    config,
    handler: async (request, reply) => {
      const { wait_for, timeout } = request.query;
      const { id } = request.params;
      checkAgentId(id);
      const { accountId } = request.principal;
      if (wait_for === undefined) return agentReply(reply, await agents.get(accountId, id), context);

      const signal = AbortSignal.any([clientGone(reply), closing]);
      const timeoutMs = (timeout ?? defaultTimeoutSeconds) * 1000;
      const row = await agents.awaitStatus(accountId, id, timeoutMs, signal, wait_for);
      if (row === null) throw new Refusal('agent_not_found', 'The agent was deleted meanwhile.');
      return agentReply(reply, row, context);
    },
  });
}
