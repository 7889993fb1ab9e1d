import { Refusal, checkBrowserSize, checkHasDashboard, fits, lastFour, makeAgentId } from '@lodge/domain';
import { randomInt } from 'node:crypto';
import type { HostDisk, HostMemory } from '@lodge/domain';
import type { CreateAgentInput, CreateOptions } from './agents.ts';
import { llmKeyContext } from '@lodge/ports';
import type { Provider, SecretBox } from '@lodge/ports';
import type { AgentRow, Committed, NewAgent } from '@lodge/store/agents';
import { insertAdmitted } from './decisions.ts';
import { checkDiskForCreate, hostMemory, noRoom, withRoom } from './capacity.ts';
import { refuseBadKeys } from './check-keys.ts';
import { checkConfirmationField } from '../confirmations/field.ts';
import { newChannel } from '../channels/check.ts';
import type { AgentsDeps } from './deps.ts';
import { checkedModels, chosenModel, idsOf } from './model-choice.ts';
import { checkedPeers } from './peers.ts';

/** Checks a create and writes the agent. All refusals come before anything is written. */
export async function createAgent(
  deps: AgentsDeps,
  accountId: string,
  input: CreateAgentInput,
  { id = makeAgentId(randomInt), note }: CreateOptions = {},
): Promise<AgentRow> {
  if (!deps.runtimes.has(input.runtimeKind)) {
    throw new Refusal('invalid_request', `runtime_kind ${input.runtimeKind} is not available on this deployment.`);
  }
  if (input.dashboard) checkHasDashboard(input.runtimeKind);
  checkBrowserSize(input.runtimeKind, input.size, input.browser === true);
  checkKeyProviders(input.llmKeys, deps.providers);
  const keyProviders = input.llmKeys.map(({ provider }) => provider);
  const model = chosenModel(deps, input.runtimeKind, input.model ?? null, keyProviders);
  const models = checkedModels(input.models ?? null, deps.providers);
  const peers = await checkedPeers(deps, { accountId, id }, input.peers ?? []);
  if (input.confirmations) {
    await checkConfirmationField(deps.database, { accountId, agentId: id }, input.confirmations, null);
  }
  await refuseBadKeys(deps, input);
  const { checkKeys: _, llmKeys, channels = [], ...given } = input;
  const agent: NewAgent = {
    ...given,
    id,
    accountId,
    model,
    models,
    peers,
    llmKeys: llmKeys.map((key) => sealKey(deps.secrets, id, key)),
    channels: channels.map((channel) => newChannel(deps.secrets, id, channel)),
  };
  return withRoom(deps, input.size, async () => {
    const [memory, disk] = await Promise.all([hostMemory(deps), deps.disk.host()]);
    return insertAdmitted(deps.database, agent, (committed) => admit(committed, { memory, disk }, input, deps), note);
  });
}

/** A provider key as it is stored. */
export function sealKey(
  secrets: SecretBox,
  agentId: string,
  { provider, apiKey }: { readonly provider: string; readonly apiKey: string },
): NewAgent['llmKeys'][number] {
  return {
    provider,
    sealed: secrets.seal(apiKey, llmKeyContext(agentId, provider)),
    last4: lastFour(apiKey),
  };
}

type Quotas = Pick<AgentsDeps, 'maxAgentsPerAccount' | 'maxRunningPerAccount'>;

type AdmissionDeps = Quotas & Pick<AgentsDeps, 'disk'>;

/** The free amount of each resource on the host. */
interface Room {
  readonly memory: HostMemory;
  readonly disk: HostDisk;
}

/** Refuses to run one agent too many. `others` is the number of agents that run beside it. */
export function checkRunning({ maxRunningPerAccount: most = Infinity }: Quotas, others: number): void {
  if (others < most) return;
  throw new Refusal('quota_exceeded', `This account has ${others} running agents; its quota is ${most}.`);
}

function admit(committed: Committed, { memory, disk }: Room, input: CreateAgentInput, deps: AdmissionDeps): void {
  const maxAgents = deps.maxAgentsPerAccount;
  if (committed.accountAgents >= maxAgents) {
    throw new Refusal(
      'quota_exceeded',
      `This account has ${committed.accountAgents} agents; its quota is ${maxAgents}.`,
    );
  }
  checkRunning(deps, committed.accountRunning);
  checkDiskForCreate(disk, deps.disk.holders(committed.holders), input.size);
  if (!fits(memory, committed.sizes, input.size)) {
    throw noRoom(input.size);
  }
}

export function checkKeyProviders(
  keys: readonly { readonly provider: string }[],
  providers: readonly Pick<Provider, 'id'>[],
): void {
  const seen = new Set<string>();
  for (const [index, { provider }] of keys.entries()) {
    if (!providers.some(({ id }) => id === provider)) {
      throw new Refusal('invalid_request', `llm_keys[${index}].provider is unknown; known are: ${idsOf(providers)}.`);
    }
    if (seen.has(provider)) {
      throw new Refusal(
        'invalid_request',
        `llm_keys[${index}].provider ${provider} is given twice; one key per provider.`,
      );
    }
    seen.add(provider);
  }
}
