import { AgentParams, LlmKeyChecks, NoBody } from '@lodge/contract';
import { checkAgentId } from '../../reply/agent-record.ts';
import type { App } from '../../app-types.ts';
import type { Agents } from '@lodge/engine';

const schema = {
  operationId: 'checkLlmKeys',
  tags: ['Agents'],
  summary: "Check an agent's LLM keys",
  description:
    'Asks the provider of each key whether it works, by a request that costs nothing, and says so in one sentence. Takes up to ten seconds; the agent need not run. A create checks its keys with `check_keys: true`.',
  params: AgentParams,
  body: NoBody,
  response: { 200: { ...LlmKeyChecks, 'x-response-description': 'One entry for each key, by provider.' } },
};
const config = { scopes: ['agents:write'], errors: ['agent_not_found'] } as const;

export function checkLlmKeysRoute(app: App, { agents }: { readonly agents: Agents }): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/llm_keys/check',
    schema,
    config,
    handler: async (request) => {
      const { id } = request.params;
      checkAgentId(id);
      const checked = await agents.checkKeys(request.principal.accountId, id);
      return {
        object: 'list' as const,
        data: checked
          .toSorted((one, other) => (one.provider < other.provider ? -1 : 1))
          .map((key) => ({ object: 'llm_key_check' as const, ...key })),
        has_more: false as const,
        next_cursor: null,
      };
    },
  });
}
