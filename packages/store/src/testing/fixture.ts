import { randomBytes, randomInt } from 'node:crypto';
import { defaultLifecycle, makeAgentId } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import type { LlmCall, OpenCall } from '@lodge/ports';
import type { NewAgent } from '../agents/facts.ts';
import { insertAccount } from '../accounts/accounts.ts';
import { insertKey } from '../accounts/keys.ts';
import type { KeyRow, NewKey } from '../accounts/keys.ts';
import type { Database } from '../database/database.ts';

/** Beginnings of this package's tests. */
export const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** An event for transitions whose event a test does not check. */
export const event: Happening = { type: 'agent.operation_ended', data: { kind: null, cause: null } };

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

export function newKey(given: Partial<NewKey> = {}): Omit<NewKey, 'accountId'> {
  return {
    name: 'first',
    hash: randomBytes(32),
    last4: '9f2c',
    scopes: ['agents:read', 'agents:write'],
    ...given,
  };
}

/** Makes a key without its event. */
export const makeKey = (database: Database, accountId: string, key = newKey()): Promise<KeyRow> =>
  database.transaction((trx) => insertKey(trx, { ...key, accountId }));

/** Makes an owner with a key, without their events. */
export async function firstAccount(database: Database): Promise<string> {
  const { id } = await database.transaction((trx) => insertAccount(trx, { name: 'operator', role: 'owner' }));
  await makeKey(database, id);
  return id;
}

/** A finished call to OpenAI. */
export function finishedCall(
  agent: Pick<LlmCall, 'agentId' | 'accountId'>,
  id: string,
  given: Partial<LlmCall> = {},
): LlmCall {
  return {
    ...agent,
    id,
    provider: 'openai',
    model: 'gpt-5',
    api: 'openai-completions',
    startedAt: new Date(1_700_000_000_123),
    durationMs: 1234.56,
    timeToFirstByteMs: 120.4,
    status: 200,
    outcome: 'ok',
    inputTokens: 12,
    outputTokens: 34,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWriteLongTokens: null,
    reasoningTokens: 30,
    imageTokens: null,
    estimated: false,
    costUsd: '0.01',
    priceVersion: '1',
    ...given,
  };
}

/** The same call before it goes out. */
export function openCall(agent: Pick<LlmCall, 'agentId' | 'accountId'>, id: string): OpenCall {
  const { provider, model, api, startedAt } = finishedCall(agent, id);
  const estimate = { inputTokens: 20, outputTokens: 1000, costUsd: '0.5' };
  return { ...agent, id, provider, model, api, startedAt, estimate, digest: 'd' };
}
