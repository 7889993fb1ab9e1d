import { AgentParams, ModelList, NoQuery } from '@lodge/contract';
import type { AgentRow } from '@lodge/engine/ports';
import { checkAgentId } from '../../agent-record.ts';
import type { App, HttpContext } from '../../context.ts';

/** OpenAI's list of models has no pages; more agents than this are not listed. */
const mostModels = 1000;
const pageSize = 100;

const scopes = ['agents:write', 'agents:chat'] as const;
const response = { 200: { ...ModelList, 'x-response-description': 'Agents, as OpenAI clients list models.' } };

export function modelRoutes(app: App, { agents }: HttpContext): void {
  const all = {
    schema: {
      operationId: 'listModels',
      tags: ['Chat'],
      summary: 'List agents as models',
      description: `The newest ${mostModels} agents.`,
      querystring: NoQuery,
      response,
    },
    config: { scopes },
  };
  app.route({
    method: 'GET',
    url: '/v1/models',
    ...all,
    handler: async (request) => {
      const { accountId } = request.principal;
      const models: ReturnType<typeof modelOf>[] = [];
      let cursor: string | null | undefined;
      do {
        const page = await agents.list({ accountId, limit: pageSize, order: 'desc', ...(cursor && { cursor }) });
        models.push(...page.rows.map(modelOf));
        cursor = page.nextCursor;
      } while (cursor !== null && models.length < mostModels);
      return { object: 'list' as const, data: models };
    },
  });

  const one = {
    schema: {
      operationId: 'listAgentModels',
      tags: ['Chat'],
      summary: 'List the one agent as a model',
      description: 'For OpenAI clients whose base URL is the agent.',
      params: AgentParams,
      querystring: NoQuery,
      response,
    },
    config: { scopes, errors: ['agent_not_found'] as const },
  };
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/models',
    ...one,
    handler: async (request) => {
      const { id } = request.params;
      checkAgentId(id);
      const row = await agents.get(request.principal.accountId, id);
      return { object: 'list' as const, data: [modelOf(row)] };
    },
  });
}

const modelOf = (row: AgentRow) => ({
  id: row.id,
  object: 'model' as const,
  created: Math.floor(row.createdAt.getTime() / 1000),
  owned_by: 'lodge' as const,
  name: row.name,
});
