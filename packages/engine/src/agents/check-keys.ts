import { Refusal } from '@lodge/domain';
import type { CheckedKey, CreateAgentInput } from './agents.ts';
import { llmKeyContext } from '@lodge/ports';
import type { KeyVerdict } from '@lodge/ports';
import type { AgentsDeps } from './deps.ts';
import { getAgent } from './reading.ts';

type Deps = Pick<AgentsDeps, 'database' | 'secrets' | 'keyChecker'>;

/** Asks the providers of an agent's keys whether the keys work. Changes nothing. */
export async function checkKeys(deps: Deps, accountId: string, id: string): Promise<CheckedKey[]> {
  const { llmKeys } = await getAgent(deps, accountId, id);
  return Promise.all(
    llmKeys.map(async ({ provider, sealed, last4 }) => {
      const key = opened(deps, sealed, llmKeyContext(id, provider));
      const unreadable = { works: false, message: 'The key cannot be read. Set it again.' };
      return { provider, last4, ...(key === null ? unreadable : await verdict(deps, provider, key)) };
    }),
  );
}

/**
 * Checks the keys of a create that asks for it. Refuses a key that is known not to work; accepts one that cannot be checked.
 */
export async function refuseBadKeys(deps: Deps, { llmKeys, checkKeys: wanted }: CreateAgentInput): Promise<void> {
  if (!wanted) return;
  const verdicts = await Promise.all(llmKeys.map(({ provider, apiKey }) => verdict(deps, provider, apiKey)));
  const bad = verdicts.findIndex(({ works }) => works === false);
  if (bad !== -1) throw new Refusal('invalid_request', `llm_keys[${bad}].api_key: ${verdicts[bad]!.message}`);
}

async function verdict({ keyChecker }: Deps, provider: string, key: string): Promise<KeyVerdict> {
  return keyChecker?.check(provider, key) ?? { works: null, message: 'Keys cannot be checked on this deployment.' };
}

function opened({ secrets }: Deps, sealed: string, context: string): string | null {
  try {
    return secrets.open(sealed, context);
  } catch {
    return null;
  }
}
