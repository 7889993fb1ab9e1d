/** Reads and writes of decisions about one agent, under its row's lock. */
import type { OperationCause, OperationKind } from '@lodge/domain';
import type { LlmKeyRow } from '@lodge/ports';
import { sql } from 'kysely';
import { isKeptAwake } from './agent-activity.ts';
import { agentColumns, agentJson, now, toAgentRow } from './agent-row.ts';
import type { AgentFields, AgentRow } from './agent-row.ts';
import type { AgentFacts } from './facts.ts';
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
  operationKind: OperationKind,
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

export async function writeAgent(trx: Transaction, id: string, fields: AgentFields): Promise<void> {
  await trx
    .updateTable('agents')
    .set({ ...agentColumns(fields), updatedAt: now })
    .where('id', '=', id)
    .execute();
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

export async function deleteKeys(trx: Transaction, agentId: string, providers: readonly string[]): Promise<void> {
  await trx
    .deleteFrom('llmKeys')
    .where('agentId', '=', agentId)
    .where('provider', '=', sql<string>`any(${providers}::text[])`)
    .execute();
}
