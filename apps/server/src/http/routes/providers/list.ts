import { NoQuery, ProviderList } from '@lodge/contract';
import type { App, HttpContext } from '../../context.ts';

const schema = {
  operationId: 'listProviders',
  tags: ['Service'],
  summary: 'List LLM providers',
  description: 'Their ids are what `llm_keys[].provider` and the prefix of a runtime_a `model` take.',
  querystring: NoQuery,
  response: { 200: { ...ProviderList, 'x-response-description': 'All LLM providers of this deployment.' } },
};

export function listProvidersRoute(app: App, { agents }: HttpContext): void {
  // Where a provider is reached is the operator's affair: it may be an address of the inside.
  const list = {
    object: 'list' as const,
    data: agents.providers.map(({ id, name, needsKey, operatorAdded }) => ({
      object: 'provider' as const,
      id,
      name,
      needs_key: needsKey,
      built_in: !operatorAdded,
    })),
    has_more: false as const,
    next_cursor: null,
  };
  app.route({ method: 'GET', url: '/v1/providers', schema, handler: async () => list });
}
