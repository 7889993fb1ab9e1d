import { agentModel, namedModels, parseProviderModel, unmaskModel } from '@lodge/domain';
import type { ProviderModel } from '@lodge/domain';
import type { BrokerAgent, Provider, ProviderEndpoint } from '@lodge/ports';
import { CallError, invalidRequest } from '../call/call-error.ts';
import { wires } from '../wires/index.ts';
import type { Wire } from '../wires/wire.ts';

/** Where a call goes, and the model it asks for there. */
export interface Target {
  readonly provider: Provider;
  readonly endpoint: ProviderEndpoint;
  /** The provider's own name of the model. */
  readonly model: string;
}

export interface Catalogue {
  readonly providers: ReadonlyMap<string, Provider>;
  /** The provider of a bare model whose owner gave no key. */
  readonly defaultProvider: string | null;
}

/** The agent's own provider and model; null when its record names none. */
export function ownModel(agent: BrokerAgent, { defaultProvider }: Catalogue): ProviderModel | null {
  return agentModel({ ...agent, keyProviders: Object.keys(agent.sealedKeys) }, defaultProvider);
}

/**
 * Picks provider and model. A request that names `<provider>/<model>` gets it when the agent has a key for that provider
 * or the provider needs none; every other name (`default`, a bare one, a provider without a key) means the agent's own
 * model. So no request can reach what the agent was not given, and a guest whose configuration names nothing works.
 */
export function pickTarget(agent: BrokerAgent, requested: string, { api }: Wire, catalogue: Catalogue): Target {
  const { providers } = catalogue;
  const named = parseProviderModel(unmaskModel(requested));
  const chosen = named && isGiven(agent, named.provider, providers) ? named : ownModel(agent, catalogue);
  const provider = chosen && providers.get(chosen.provider);
  if (!provider) {
    throw invalidRequest('unknown_provider', `This agent's model ${agent.model} names no provider of this deployment.`);
  }
  refuseUnlisted(agent, provider, chosen, catalogue);
  const endpoint = provider.endpoints[api];
  if (!endpoint) {
    const { path } = wires.find((wire) => wire.api === provider.api)!;
    throw invalidRequest('wrong_api', `Provider ${provider.id} speaks another API. Send this to ${path}.`);
  }
  if (provider.needsKey && !hasKey(agent, provider.id)) {
    throw new CallError(`No API key for provider ${provider.id} is set on this agent.`, {
      status: 401,
      kind: 'authentication',
      code: 'missing_provider_key',
      outcome: 'refused',
    });
  }
  return { provider, endpoint, model: chosen.name };
}

/** The operator's list binds every agent; an agent's own list leaves it its own model. */
function refuseUnlisted(agent: BrokerAgent, provider: Provider, chosen: ProviderModel, catalogue: Catalogue): void {
  const name = `${chosen.provider}/${chosen.name}`;
  const offered = provider.models.map((model) => `${provider.id}/${model.name}`);
  if (provider.onlyModels && !offered.includes(name)) throw notAllowed(name, `Provider ${provider.id} offers`, offered);
  if (agent.models === null || agent.models.includes(name)) return;
  const own = ownModel(agent, catalogue);
  if (own?.provider === chosen.provider && own.name === chosen.name) return;
  const ownName = own === null ? [] : [`${own.provider}/${own.name}`];
  throw notAllowed(name, 'This agent may call', [...ownName, ...agent.models]);
}

function notAllowed(name: string, who: string, models: readonly string[]): CallError {
  return new CallError(`The model ${name} is not allowed. ${who}: ${namedModels(models)}.`, {
    status: 403,
    kind: 'permission',
    code: 'model_not_allowed',
    outcome: 'refused',
    final: true,
  });
}

export function hasKey(agent: BrokerAgent, providerId: string): boolean {
  return Object.hasOwn(agent.sealedKeys, providerId);
}

function isGiven(agent: BrokerAgent, providerId: string, providers: ReadonlyMap<string, Provider>): boolean {
  const provider = providers.get(providerId);
  return provider !== undefined && (!provider.needsKey || hasKey(agent, providerId));
}
