import {
  Refusal,
  checkBrowserSize,
  checkHasDashboard,
  defaultRuntimeKind,
  defaultSize,
  lastFour,
  makeAgentId,
} from '@lodge/domain';
import { randomInt } from 'node:crypto';
import type { CreateAgentInput, CreateOptions } from './agents.ts';
import { llmKeyContext } from '@lodge/ports';
import type { Provider, SecretBox } from '@lodge/ports';
import type { AgentRow, Committed, NewAgent } from '@lodge/store/agents';
import { admitNew, hostRoom } from './admission.ts';
import { insertAdmitted } from './decisions.ts';
import { withRoom } from './capacity.ts';
import { refuseBadKeys } from './check-keys.ts';
import { checkConfirmationField } from '../confirmations/field.ts';
import { newChannel } from '../channels/check.ts';
import type { Transaction } from '@lodge/store/database';
import type { AgentsDeps } from './deps.ts';
import { checkedModels, chosenModel, idsOf } from './model-choice.ts';
import { checkedPeers } from './peers.ts';
import { holdSnapshot, madeFrom, snapshotToMake } from '../saved/fork/from-snapshot.ts';

/** Checks a create and writes the agent. All refusals come before anything is written. */
export async function createAgent(
  deps: AgentsDeps,
  accountId: string,
  input: CreateAgentInput,
  { id = makeAgentId(randomInt), note, after }: CreateOptions = {},
): Promise<AgentRow> {
  const snapshot = input.from ? await snapshotToMake(deps.database, accountId, input.from.snapshot, input) : null;
  const runtimeKind = input.runtimeKind ?? snapshot?.runtimeKind ?? defaultRuntimeKind;
  const size = input.size ?? snapshot?.size ?? defaultSize;
  if (!deps.runtimes.has(runtimeKind)) {
    throw new Refusal('invalid_request', `runtime_kind ${runtimeKind} is not available on this deployment.`);
  }
  if (input.dashboard) checkHasDashboard(runtimeKind);
  checkBrowserSize(runtimeKind, size, input.browser === true);
  checkKeyProviders(input.llmKeys, deps.providers);
  const keyProviders = input.llmKeys.map(({ provider }) => provider);
  const model = chosenModel(deps, runtimeKind, input.model ?? null, keyProviders);
  const models = checkedModels(input.models ?? null, deps.providers);
  const peers = await checkedPeers(deps, { accountId, id }, input.peers ?? []);
  if (input.confirmations) {
    await checkConfirmationField(deps.database, { accountId, agentId: id }, input.confirmations, null);
  }
  await refuseBadKeys(deps, input);
  const { checkKeys: _, from, llmKeys, channels = [], ...given } = input;
  const agent: NewAgent = {
    ...given,
    id,
    accountId,
    runtimeKind,
    size,
    model,
    models,
    peers,
    llmKeys: llmKeys.map((key) => sealKey(deps.secrets, id, key)),
    channels: channels.map((channel) => newChannel(deps.secrets, id, channel)),
    ...(snapshot && madeFrom(snapshot, { id, name: input.name, withBrowser: from?.withBrowser === true })),
  };
  const also = async (trx: Transaction): Promise<void> => {
    if (snapshot !== null) await holdSnapshot(trx, snapshot);
    await after?.(trx);
  };
  return withRoom(deps, async () => {
    const room = await hostRoom(deps);
    const admit = (committed: Committed) => admitNew(committed, room, { size, count: 1 }, deps);
    return insertAdmitted(deps.database, agent, admit, note, also);
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
