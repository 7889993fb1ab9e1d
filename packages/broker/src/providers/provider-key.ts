import { llmKeyContext } from '@lodge/ports';
import type { BrokerAgent, SecretBox } from '@lodge/ports';
import { CallError } from '../call/call-error.ts';
import { hasKey } from './target.ts';

/** The agent's key for a provider, opened; null when it has none. Rejects with a `CallError` when it cannot be one. */
export function openKey(agent: BrokerAgent, providerId: string, secrets: SecretBox): string | null {
  if (!hasKey(agent, providerId)) return null;
  let key: string;
  try {
    key = secrets.open(agent.sealedKeys[providerId]!, llmKeyContext(agent.agentId, providerId)).trim();
  } catch (error) {
    const details = { status: 500, kind: 'server', code: 'key_unreadable', outcome: 'refused' } as const;
    const message = `The API key for provider ${providerId} cannot be read. Set it again on this agent.`;
    throw new CallError(message, details, { cause: error });
  }
  if (isKey(key)) return key;
  const details = { status: 401, kind: 'authentication', code: 'malformed_provider_key', outcome: 'refused' } as const;
  throw new CallError(`The API key for provider ${providerId} has characters that no API key has.`, details);
}

export const isKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** The header that carries a key. */
export function keyHeader(name: string, key: string): Record<string, string> {
  return { [name]: name === 'authorization' ? `Bearer ${key}` : key };
}
