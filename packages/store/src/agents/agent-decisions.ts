import type { Admission, OperationCause } from '@lodge/domain';
import type { AgentChange, AgentRow, ChangeNote, DecisionFacts, LlmKeyRow } from '@lodge/ports';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Transaction, Updateable } from 'kysely';
import { isKeptAwake } from './agent-activity.ts';
import { othersRunning } from './agent-capacity.ts';
import { liveAgents, now, selectAgent, toAgentRow } from './agent-row.ts';
import { writeNote } from '../events/change-note.ts';
import type { Database } from '../database/connection.ts';
import { lockAgent } from './lock.ts';
import type { AgentsTable, Schema } from '../database/schema.ts';

/**
 * Decides about one agent. The decision reads the row after everyone who changes it has committed, and is written before
 * anyone else writes.
 */

export function begin(
  database: Database,
  id: string,
  cause: OperationCause,
  decide: (facts: DecisionFacts) => Admission,
  note?: ChangeNote,
): Promise<{ readonly row: AgentRow; readonly admission: Admission } | null> {
  return database.transaction(async (trx) => {
    if (!(await lockAgent(trx, id))) return null;
    // A separate statement sees everything that was committed while it waited for the lock, above all keep-awake leases.
    const found = await liveAgents(trx)
      .select((eb) => [isKeptAwake(eb.ref('agents.id')).as('isKeptAwake'), now.as('now')])
      .where('id', '=', id)
      .where('desired', '=', 'running')
      .executeTakeFirst();
    if (!found) return null;
    const row = toAgentRow(found);
    const others = cause === 'request' ? await othersRunning(trx, row.accountId, id) : 0;
    const facts: DecisionFacts = { row, isKeptAwake: found.isKeptAwake, now: found.now, othersRunning: others };
    const admission = decide(facts);
    if (admission.do !== 'begin') return { row: facts.row, admission };
    await trx
      .updateTable('agents')
      .set((eb) => ({
        operation_kind: admission.kind,
        operation_cause: cause,
        operation_started_at: now,
        generation: eb('generation', '+', 1),
        updated_at: now,
      }))
      .where('id', '=', id)
      .execute();
    const begun = (await selectAgent(trx, id))!;
    const own = { type: 'agent.operation_begun', data: { kind: admission.kind, cause } } as const;
    await writeNote(trx, { accountId: row.accountId, agentId: id }, own, note);
    return { row: begun, admission };
  });
}

export function change(
  database: Database,
  accountId: string,
  id: string,
  decide: (row: AgentRow) => AgentChange,
  note?: ChangeNote,
): Promise<AgentRow | null> {
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
        ...columnsOf(rest),
        ...(rest.egress !== undefined && { egress_version: eb('egress_version', '+', 1) }),
        updated_at: now,
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

export async function insertKeys(trx: Transaction<Schema>, agentId: string, keys: readonly NewKey[]): Promise<void> {
  if (keys.length === 0) return;
  await trx
    .insertInto('llm_keys')
    .values(keys.map(({ provider, sealed, last4 }) => ({ agent_id: agentId, provider, sealed, last4 })))
    .execute();
}

type SealedKey = Pick<NewKey, 'provider' | 'sealed'>;

const isIn = (all: readonly SealedKey[]) => (key: SealedKey) =>
  all.some(({ provider, sealed }) => provider === key.provider && sealed === key.sealed);

/** Replaces the keys. An unchanged key keeps its time of creation. */
async function replaceKeys(trx: Transaction<Schema>, agentId: string, keys: readonly NewKey[]): Promise<void> {
  const there = await trx
    .selectFrom('llm_keys')
    .select(['provider', 'sealed'])
    .where('agent_id', '=', agentId)
    .execute();
  const gone = there.filter((key) => !isIn(keys)(key)).map(({ provider }) => provider);
  await trx
    .deleteFrom('llm_keys')
    .where('agent_id', '=', agentId)
    .where('provider', '=', sql<string>`any(${gone}::text[])`)
    .execute();
  await insertKeys(
    trx,
    agentId,
    keys.filter((key) => !isIn(there)(key)),
  );
}

function columnsOf(change: Omit<AgentChange, 'llmKeys'>): Updateable<AgentsTable> {
  const { name, description, model, size, lifecycle, metadata, instructions, dashboard, spendLimit, members } = change;
  const { egress, models, peers, labels } = change;
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(model !== undefined && { model }),
    ...(size !== undefined && { size }),
    ...(lifecycle !== undefined && lifecycleColumns(lifecycle)),
    ...(labels !== undefined && { labels: JSON.stringify(labels) }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
    ...(instructions !== undefined && { instructions }),
    ...(dashboard !== undefined && { dashboard }),
    ...(spendLimit !== undefined && { spend_limit: spendLimit && JSON.stringify(spendLimit) }),
    ...(egress !== undefined && { egress: JSON.stringify(egress) }),
    ...(models !== undefined && { models }),
    ...(peers !== undefined && { peers }),
    ...(members !== undefined && { members: JSON.stringify(members) }),
  };
}

export const lifecycleColumns = (lifecycle: AgentRow['lifecycle']) => ({
  idle_timeout_seconds: lifecycle.idleTimeoutSeconds,
  stop_after_seconds: lifecycle.stopAfterSeconds,
  keep_awake: lifecycle.keepAwake,
  auto_resume: lifecycle.autoResume,
  auto_start: lifecycle.autoStart,
  wake_on_message: lifecycle.wakeOnMessage,
});
