import { kindsWith } from '@lodge/domain';
import { ProviderList } from '@lodge/contract';
import type { Provider } from '@lodge/ports';
import type { App } from '../../app-types.ts';
import type { Agents } from '@lodge/engine';

const schema = {
  operationId: 'listProviders',
  tags: ['Service'],
  summary: 'List LLM providers',
  description: `Their ids are what \`llm_keys[].provider\` and the prefix of a ${kindsWith.prefixedModels} \`model\` take.`,
  response: { 200: { ...ProviderList, 'x-response-description': 'All LLM providers of this deployment.' } },
};

export function listProvidersRoute(app: App, { agents }: { readonly agents: Agents }): void {
  const list = {
    object: 'list' as const,
    data: agents.providers.map(publicProvider),
    has_more: false as const,
    next_cursor: null,
  };
  app.route({ method: 'GET', url: '/v1/providers', schema, handler: async () => list });
}

/** The address of a provider that the operator added stays private: it may be an internal one. */
function publicProvider(provider: Provider) {
  const { id, name, api, endpoints, needsKey, keyCheck, docsUrl, models, operatorAdded } = provider;
  const apis = Object.keys(endpoints).toSorted((one, other) => Number(other === api) - Number(one === api));
  return {
    object: 'provider' as const,
    id,
    name,
    base_url: operatorAdded ? null : endpoints[api]!.baseUrl,
    apis: apis as (typeof api)[],
    key_header: endpoints[api]!.keyHeader,
    needs_key: needsKey,
    key_check: keyCheck !== null,
    docs_url: docsUrl,
    models: models.map(({ name: id, contextWindow, prices }) => ({
      id,
      context_window: contextWindow,
      prices: prices && {
        input: prices.input,
        output: prices.output,
        cache_read: prices.cacheRead,
        cache_write: prices.cacheWrite,
      },
    })),
    built_in: !operatorAdded,
  };
}
