import { parseProviderModel } from '@lodge/domain';
import type { BrokerAgent, LlmApi, Provider } from '@lodge/engine/ports';
import { CallError, invalidRequest } from './call-error.ts';

/** Where a call goes, and the model it asks for there. */
export interface Target {
  readonly provider: Provider;
  /** The provider's own name of the model. */
  readonly model: string;
}

/**
 * Picks provider and model. A request that names `<provider>/<model>` gets it when the agent has a key for that provider
 * or the provider needs none; every other name (`default`, a bare one, a provider without a key) means the agent's own
 * model. So no request can reach what the agent was not given, and a guest whose configuration names nothing works.
 */
export function pickTarget(
  agent: BrokerAgent,
  requested: string,
  api: LlmApi,
  providers: ReadonlyMap<string, Provider>,
): Target {
  const named = parseProviderModel(requested);
  const chosen = named && isGiven(agent, named.provider, providers) ? named : parseProviderModel(agent.model);
  const provider = chosen && providers.get(chosen.provider);
  if (!provider) {
    throw invalidRequest('unknown_provider', `This agent's model ${agent.model} names no provider of this deployment.`);
  }
  if (!provider.endpoints[api]) {
    throw invalidRequest(
      'wrong_api',
      `Provider ${provider.id} speaks another API. Send this to ${paths[provider.api]}.`,
    );
  }
  if (provider.needsKey && !hasKey(agent, provider.id)) {
    throw new CallError(`No API key for provider ${provider.id} is set on this agent.`, {
      status: 401,
      kind: 'authentication',
      code: 'missing_provider_key',
      outcome: 'refused',
    });
  }
  return { provider, model: chosen.name };
}

/** Guest-facing path of each wire. */
export const paths: Readonly<Record<LlmApi, string>> = {
  'openai-completions': '/openai/v1/chat/completions',
  'openai-responses': '/openai/v1/responses',
  'anthropic-messages': '/anthropic/v1/messages',
  'google-generative-ai': '/google/v1beta/models',
};

export function hasKey(agent: BrokerAgent, providerId: string): boolean {
  return Object.hasOwn(agent.sealedKeys, providerId);
}

function isGiven(agent: BrokerAgent, providerId: string, providers: ReadonlyMap<string, Provider>): boolean {
  const provider = providers.get(providerId);
  return provider !== undefined && (!provider.needsKey || hasKey(agent, providerId));
}
