import { agentIdPattern } from '@lodge/domain';
import type { Admission, OperationCause } from '@lodge/domain';
import type { ChangeNote, LlmKeyRow } from '@lodge/ports';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { isKeptAwake } from './agent-activity.ts';
import { othersRunning } from './agent-capacity.ts';
import { agentColumns, agentJson, now, toAgentRow } from './agent-row.ts';
import type { AgentRow } from './agent-row.ts';
import type { AgentChange, DecisionFacts } from './facts.ts';
import { selectAgent } from './selecting.ts';
import { writeNote } from '../events/change-note.ts';
import type { Database, Transaction } from '../database/database.ts';
import { lockAgent } from './lock.ts';

/**
 * Decides about one agent. The decision reads the row after everyone who changes it has committed, and is written before
 * anyone else writes.
 */

/**
 * Decides in one transaction under the row's lock. When `decide` answers `begin`, the operation is written with a new
 * generation and its event. Returns null when there is no such agent, or it is being deleted.
 */
export async function beginOperation(
  database: Database,
  id: string,
  cause: OperationCause,
  decide: (facts: DecisionFacts) => Admission,
  note?: ChangeNote,
): Promise<{ readonly row: AgentRow; readonly admission: Admission } | null> {
  if (!agentIdPattern.test(id)) return null;
  return database.transaction(async (trx) => {
    if (!(await lockAgent(trx, id))) return null;
    // A separate statement sees everything that was committed while it waited for the lock, above all keep-awake leases.
    const found = await trx
      .selectFrom('agents')
      .select((eb) => [agentJson().as('agent'), isKeptAwake(eb.ref('agents.id')).as('isKeptAwake'), now.as('now')])
      .where('id', '=', id)
      .where('desired', '=', 'running')
      .where('deletedAt', 'is', null)
      .executeTakeFirst();
    if (!found) return null;
    const row = toAgentRow(found.agent);
    const others = cause === 'request' ? await othersRunning(trx, row.accountId, id) : 0;
    const facts: DecisionFacts = { row, isKeptAwake: found.isKeptAwake, now: found.now, othersRunning: others };
    const admission = decide(facts);
    if (admission.do !== 'begin') return { row: facts.row, admission };
    await trx
      .updateTable('agents')
      .set((eb) => ({
        operationKind: admission.kind,
        operationCause: cause,
        operationStartedAt: now,
        generation: eb('generation', '+', 1),
        updatedAt: now,
      }))
      .where('id', '=', id)
      .execute();
    const begun = (await selectAgent(trx, id))!;
    const own = { type: 'agent.operation_begun', data: { kind: admission.kind, cause } } as const;
    await writeNote(trx, { accountId: row.accountId, agentId: id }, own, note);
    return { row: begun, admission };
  });
}

/**
 * Changes an agent in one transaction under the row's lock. `decide` sees the agent and names the change, or throws to
 * refuse. Equal values are no change and have no event. `generation` stays. Returns null when the account has no such agent.
 */
export async function changeAgent(
  database: Database,
  accountId: string,
  id: string,
  decide: (row: AgentRow) => AgentChange,
  note?: ChangeNote,
): Promise<AgentRow | null> {
  if (!agentIdPattern.test(id)) return null;
  return database.transaction(async (trx) => {
    if (!(await lockAgent(trx, id))) return null;
    const row = await selectAgent(trx, id);
    if (row?.accountId !== accountId) return null;
    const { llmKeys, ...rest } = changesIn(row, decide(row));
    const fields = Object.keys({ ...rest, ...(llmKeys && { llmKeys }) });
    if (fields.length === 0) return row;
    if (llmKeys !== undefined) await replaceKeys(trx, id, llmKeys);
    await trx
      .updateTable('agents')
      .set((eb) => ({
        ...agentColumns(rest),
        ...(rest.egress !== undefined && { egressVersion: eb('egressVersion', '+', 1) }),
        updatedAt: now,
      }))
      .where('id', '=', id)
      .execute();
    const changed = await selectAgent(trx, id);
    await writeNote(trx, { accountId, agentId: id }, { type: 'agent.updated', data: { fields } }, note);
    return changed;
  });
}

/** Returns the change without values that are so already. */
function changesIn(row: AgentRow, { llmKeys, ...rest }: AgentChange): AgentChange {
  const changed = Object.entries(rest).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(value, row[name as keyof typeof rest]),
  );
  const isSame = llmKeys?.length === row.llmKeys.length && llmKeys.every(isIn(row.llmKeys));
  return { ...Object.fromEntries(changed), ...(llmKeys !== undefined && !isSame && { llmKeys }) };
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

const isIn = (all: readonly SealedKey[]) => (key: SealedKey) =>
  all.some(({ provider, sealed }) => provider === key.provider && sealed === key.sealed);

/** Replaces the keys. An unchanged key keeps its time of creation. */
async function replaceKeys(trx: Transaction, agentId: string, keys: readonly NewKey[]): Promise<void> {
  const there = await trx.selectFrom('llmKeys').select(['provider', 'sealed']).where('agentId', '=', agentId).execute();
  const gone = there.filter((key) => !isIn(keys)(key)).map(({ provider }) => provider);
  await trx
    .deleteFrom('llmKeys')
    .where('agentId', '=', agentId)
    .where('provider', '=', sql<string>`any(${gone}::text[])`)
    .execute();
  await insertKeys(
    trx,
    agentId,
    keys.filter((key) => !isIn(there)(key)),
  );
}
