import { AgentList, ListAgentsQuery } from '@lodge/contract';
import { runtimeKindAliases } from '@lodge/domain';
import { agentRecord } from '../../reply/agent-record.ts';
import type { App } from '../../app-types.ts';
import type { AgentReplies } from '../../needs.ts';
import type { Cursors } from '../../reply/cursors.ts';

const schema = {
  operationId: 'listAgents',
  tags: ['Agents'],
  summary: 'List agents',
  querystring: ListAgentsQuery,
  response: { 200: { ...AgentList, 'x-response-description': 'A page of agents.' } },
};

export function listAgentsRoute(app: App, needs: AgentReplies & { readonly cursors: Cursors }): void {
  const { agents, cursors } = needs;
  app.route({
    method: 'GET',
    url: '/v1/agents',
    schema,
    config: { scopes: ['agents:read'] },
    handler: async (request) => {
      const { limit = 20, order = 'desc', runtime_kind, cursor, label, has_label, ...filter } = request.query;
      const { accountId } = request.principal;
      const { rows, nextCursor } = await agents.list({
        accountId,
        ...(cursor !== undefined && { cursor: cursors.open('agents', accountId, cursor) }),
        limit,
        order,
        ...filter,
        ...(label && { labels: label }),
        ...(has_label && { hasLabel: has_label }),
        ...(runtime_kind && { runtimeKind: runtimeKindAliases[runtime_kind]! }),
      });
      return {
        object: 'list' as const,
        data: rows.map((row) => agentRecord(row, needs)),
        has_more: nextCursor !== null,
        next_cursor: cursors.seal('agents', accountId, nextCursor),
      };
    },
  });
}
