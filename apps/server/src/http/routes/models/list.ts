import { AgentParams, ModelList } from '@lodge/contract';
import type { AgentRow } from '@lodge/store/agents';
import { checkAgentId } from '../../reply/agent-record.ts';
import type { App } from '../../app-types.ts';
import type { Agents } from '@lodge/engine';

/** OpenAI's list of models has no pages; more agents than this are not listed. */
const maxModels = 1000;
const pageSize = 100;

type Model = ModelList['data'][number];

const scopes = ['agents:write', 'agents:chat'] as const;
const response = { 200: { ...ModelList, 'x-response-description': 'Agents, as OpenAI clients list models.' } };

export function modelRoutes(app: App, { agents }: { readonly agents: Agents }): void {
  const all = {
    schema: {
      operationId: 'listModels',
      tags: ['Chat'],
      summary: 'List agents, and their members, as models',
      description: `The newest ${maxModels} agents.`,
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
      const models: Model[] = [];
      let cursor: string | null | undefined;
      do {
        const page = await agents.list({ accountId, limit: pageSize, order: 'desc', ...(cursor && { cursor }) });
        models.push(...page.rows.flatMap(modelsOf));
        cursor = page.nextCursor;
      } while (cursor !== null && models.length < maxModels);
      return { object: 'list' as const, data: models };
    },
  });

  const one = {
    schema: {
      operationId: 'listAgentModels',
      tags: ['Chat'],
      summary: 'List the one agent, and its members, as models',
      description: 'For OpenAI clients whose base URL is the agent.',
      params: AgentParams,
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
      return { object: 'list' as const, data: modelsOf(row) };
    },
  });
}

/** An agent and its members. */
function modelsOf(row: AgentRow): Model[] {
  const model = (id: string, name: string, createdAt: Date): Model => ({
    id,
    object: 'model',
    created: Math.floor(createdAt.getTime() / 1000),
    owned_by: 'lodge',
    name,
  });
  const members = row.members.map(({ name, createdAt }) => model(`${row.id}/${name}`, name, createdAt));
  return [model(row.id, row.name, row.createdAt), ...members];
}
