import { checkBrowserSize, checkHasDashboard, Refusal, defaultLifecycle, sizes } from '@lodge/domain';
import type { UpdateAgentInput, UpdateOptions } from './agents.ts';
import type { AgentChange, AgentRow } from '@lodge/store/agents';
import { changeAgent } from './decisions.ts';
import { checkGrowth, withRoom } from './capacity.ts';
import { checkKeyProviders, sealKey } from './create-agent.ts';
import { checkModelStays, checkedModels, chosenModel } from './model-choice.ts';
import type { AgentsDeps } from './deps.ts';
import { checkConfirmationField } from '../confirmations/field.ts';
import { checkedPeers } from './peers.ts';
import { getAgent, isThere, notFound } from './reading.ts';

/** Most pairs of labels, and of metadata. */
const maxPairs = 50;
const maxLlmKeys = 20;

/**
 * Changes an agent's record. Model and keys are in effect with the next request, because broker and runtime read them each
 * time. The reconcile loop gives a size to the running machine, as far as that is possible.
 */
export async function updateAgent(
  deps: AgentsDeps,
  accountId: string,
  id: string,
  input: UpdateAgentInput,
  { check, note }: UpdateOptions = {},
): Promise<AgentRow> {
  const agent = await getAgent(deps, accountId, id);
  if (input.llmKeys) {
    // The key of a provider that the operator removed can still be removed.
    checkKeyProviders(input.llmKeys, [...deps.providers, ...agent.llmKeys.map(({ provider }) => ({ id: provider }))]);
  }
  if (input.dashboard) checkHasDashboard(agent.runtimeKind);
  const keyProviders = { before: keyProvidersAfter(agent, undefined), after: keyProvidersAfter(agent, input.llmKeys) };
  const model =
    input.model === undefined ? undefined : chosenModel(deps, agent.runtimeKind, input.model, keyProviders.after);
  if (model === undefined) checkModelStays(deps, agent, keyProviders);
  const { size } = input;
  const models = input.models && checkedModels(input.models, deps.providers, agent.models ?? []);
  const peers = input.peers && (await checkedPeers(deps, agent, input.peers, agent.peers));
  if (size !== undefined && grows(agent, size)) await withRoom(deps, () => checkGrowth(deps, agent, size));
  if (input.confirmations) {
    await checkConfirmationField(deps.database, { accountId, agentId: id }, input.confirmations, agent.confirmations);
  }
  const decide = (row: AgentRow): AgentChange => {
    if (!isThere(row)) throw notFound(id);
    check?.(row);
    if (size !== undefined || input.browser) {
      checkBrowserSize(row.runtimeKind, size ?? row.size, input.browser ?? row.browser);
    }
    return {
      ...input,
      model,
      models,
      peers,
      ...(input.packages && { packagesError: null }),
      llmKeys: input.llmKeys === null ? [] : input.llmKeys && keysOf(deps, row, input.llmKeys),
      lifecycle: input.lifecycle && { ...defaultLifecycle, ...row.lifecycle, ...input.lifecycle },
      labels: pairsOf('labels', row.labels, input.labels),
      metadata: pairsOf('metadata', row.metadata, input.metadata),
    };
  };
  const changed = await changeAgent(deps.database, accountId, id, decide, note);
  if (!isThere(changed)) throw notFound(id);
  return changed;
}

/** Whether the change takes host memory now. A start and a wake check memory by themselves. */
function grows({ status, size: now }: AgentRow, size: AgentRow['size']): boolean {
  return ['provisioning', 'running'].includes(status) && sizes[size].memoryMib > sizes[now].memoryMib;
}

/** Providers that the agent has keys for once the given ones are set. */
function keyProvidersAfter({ llmKeys }: AgentRow, given: UpdateAgentInput['llmKeys']): string[] {
  if (given === null) return [];
  const providers = new Set(llmKeys.map(({ provider }) => provider));
  for (const { provider, apiKey } of given ?? []) {
    if (apiKey === null) providers.delete(provider);
    else providers.add(provider);
  }
  return [...providers];
}

function keysOf(
  deps: AgentsDeps,
  row: AgentRow,
  given: NonNullable<UpdateAgentInput['llmKeys']>,
): NonNullable<AgentChange['llmKeys']> {
  const named = new Set(given.map(({ provider }) => provider));
  const kept = row.llmKeys.filter(({ provider }) => !named.has(provider));
  const set = given.flatMap(({ provider, apiKey }) =>
    apiKey === null ? [] : [sealKey(deps.secrets, row.id, { provider, apiKey })],
  );
  if (kept.length + set.length > maxLlmKeys) {
    throw new Refusal('invalid_request', `llm_keys would have more than ${maxLlmKeys} keys.`);
  }
  return [...kept, ...set];
}

type Pairs = Readonly<Record<string, string>>;

/** The pairs of a field after a change, in which null removes a pair or all. */
export function pairsOf(
  field: string,
  there: Pairs,
  given: Readonly<Record<string, string | null>> | null | undefined,
): Pairs | undefined {
  if (given === undefined) return undefined;
  const merged = given === null ? {} : { ...there, ...given };
  const set = Object.entries(merged).filter((pair): pair is [string, string] => pair[1] !== null);
  if (set.length > maxPairs) {
    throw new Refusal('invalid_request', `${field} would have more than ${maxPairs} pairs.`);
  }
  return Object.fromEntries(set);
}
