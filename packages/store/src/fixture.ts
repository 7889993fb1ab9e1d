import { randomBytes, randomInt } from 'node:crypto';
import { defaultLifecycle, makeAgentId } from '@lodge/domain';
import type { ApiKeyStore, NewAgent, NewApiKey } from '@lodge/engine/ports';

/** What this package's tests begin with. */
export const silent = { debug() {}, info() {}, warn() {}, error() {} };

export const admitAll = (): void => undefined;

export function newAgent(accountId: string, given: Partial<NewAgent> = {}): NewAgent {
  return {
    id: makeAgentId(randomInt),
    accountId,
    name: 'Support bot',
    description: null,
    runtimeKind: 'runtime_a',
    model: 'anthropic/claude-sonnet-5',
    size: 'medium',
    lifecycle: defaultLifecycle,
    metadata: {},
    llmKeys: [],
    ...given,
  };
}

export function newKey(given: Partial<NewApiKey> = {}): NewApiKey {
  return {
    name: 'first',
    hash: randomBytes(32),
    last4: '9f2c',
    scopes: ['agents:read', 'agents:write'],
    expiresAt: null,
    ...given,
  };
}

export async function firstAccount(apiKeys: ApiKeyStore): Promise<string> {
  return (await apiKeys.createFirstAccount('operator', newKey()))!.accountId;
}
