import { agentModel, hasCommandRules, parseProviderModel, environmentOf } from '@lodge/domain';
import type { AgentSettings } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { AgentsDeps } from './deps.ts';

type Offer = Pick<AgentsDeps, 'providers' | 'defaultModel'>;

/** The facts about an agent that its runtime needs. */
export function agentSettings(agent: AgentRow, offer: Offer): AgentSettings {
  return {
    agentId: agent.id,
    ...speech(agent, agent.model, offer),
    model: agent.model,
    instructions: agent.instructions,
    dashboard: agent.dashboard,
    browser: agent.browser,
    env: environmentOf(agent.env, agent.hostAccess),
    hosts: agent.hostAccess,
    asksBeforeCommands: hasCommandRules(agent.confirmations),
    members: agent.members.map(({ name, model, instructions }) => ({
      name,
      model,
      instructions,
      ...speech(agent, model ?? agent.model, offer),
    })),
  };
}

/** The API style of the provider of one of the agent's models, and the inputs of the model. */
function speech(
  agent: AgentRow,
  named: string,
  { providers, defaultModel }: Offer,
): Pick<AgentSettings, 'api' | 'contextWindow'> {
  const keyProviders = agent.llmKeys.map((key) => key.provider);
  const { runtimeKind } = agent;
  const own = agentModel(
    { runtimeKind, model: named, keyProviders },
    parseProviderModel(defaultModel)?.provider ?? null,
  );
  const provider = providers.find(({ id }) => id === own?.provider);
  const model = provider?.models.find(({ name }) => name === own?.name);
  // The operator has removed the provider: the broker answers for it, and the guest need not know.
  return {
    api: provider?.api ?? 'openai-completions',
    contextWindow: model?.contextWindow ?? provider?.contextWindow ?? null,
  };
}
