/** Reads and writes of decisions about one agent, under its row's lock. */
import type { OperationCause, Verb } from '@lodge/domain';
import type { LlmKeyRow } from '@lodge/ports';
import { sql } from 'kysely';
import { isKeptAwake } from './agent-activity.ts';
import { agentColumns, agentJson, now, toAgentRow } from './agent-row.ts';
import type { AgentRow } from './agent-row.ts';
import type { AgentChange, AgentFacts } from './facts.ts';
import { selectAgent } from './selecting.ts';
import type { Transaction } from '../database/database.ts';

/**
 * Reads a locked agent. A separate statement from the lock's, because it sees everything that was committed while that one
 * waited, above all keep-awake leases.
 */
export async function factsOfAgent(trx: Transaction, id: string): Promise<AgentFacts> {
  const found = await trx
    .selectFrom('agents')
    .select((eb) => [agentJson().as('agent'), isKeptAwake(eb.ref('agents.id')).as('isKeptAwake'), now.as('now')])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return { row: toAgentRow(found.agent), isKeptAwake: found.isKeptAwake, now: found.now };
}

export async function beginOfAgent(
  trx: Transaction,
  id: string,
  operationKind: Verb,
  operationCause: OperationCause,
): Promise<AgentRow> {
  await trx
    .updateTable('agents')
    .set((eb) => ({
      operationKind,
      operationCause,
      operationStartedAt: now,
      generation: eb('generation', '+', 1),
      updatedAt: now,
    }))
    .where('id', '=', id)
    .execute();
  return (await selectAgent(trx, id))!;
}

export async function writeAgent(
  trx: Transaction,
  id: string,
  { llmKeys, ...fields }: AgentChange,
): Promise<AgentRow | null> {
  if (llmKeys !== undefined) await replaceKeys(trx, id, llmKeys);
  await trx
    .updateTable('agents')
    .set((eb) => ({
      ...agentColumns(fields),
      ...(fields.egress !== undefined && { egressVersion: eb('egressVersion', '+', 1) }),
      updatedAt: now,
    }))
    .where('id', '=', id)
    .execute();
  return selectAgent(trx, id);
}

/** False when the account has no such agent, or the wish is there already. */
export async function markDeleted(trx: Transaction, accountId: string, id: string): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('agents')
    .set((eb) => ({ desired: 'deleted', generation: eb('generation', '+', 1), updatedAt: now }))
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .where('desired', '<>', 'deleted')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

type NewKey = Omit<LlmKeyRow, 'createdAt'>;

export async function insertKeys(trx: Transaction, agentId: string, keys: readonly NewKey[]): Promise<void> {
  if (keys.length === 0) return;
  await trx
    .insertInto('llmKeys')
    .values(keys.map(({ provider, sealed, last4 }) => ({ agentId, provider, sealed, last4 })))
    .execute();
}

type SealedKey = Pick<NewKey, 'provider' | 'sealed'>;

/** Whether these keys have this one, unchanged. */
export const hasKey = (all: readonly SealedKey[]) => (key: SealedKey) =>
  all.some(({ provider, sealed }) => provider === key.provider && sealed === key.sealed);

/** Replaces the keys. An unchanged key keeps its time of creation. */
async function replaceKeys(trx: Transaction, agentId: string, keys: readonly NewKey[]): Promise<void> {
  const there = await trx.selectFrom('llmKeys').select(['provider', 'sealed']).where('agentId', '=', agentId).execute();
  const gone = there.filter((key) => !hasKey(keys)(key)).map(({ provider }) => provider);
  await trx
    .deleteFrom('llmKeys')
    .where('agentId', '=', agentId)
    .where('provider', '=', sql<string>`any(${gone}::text[])`)
    .execute();
  await insertKeys(
    trx,
    agentId,
    keys.filter((key) => !hasKey(there)(key)),
  );
}
