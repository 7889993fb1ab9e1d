/**
 * Decisions about one agent, each in one transaction under the row's lock: it reads the row after everyone who changes it has
 * committed, and is written before anyone else writes.
 */
import { isDeepStrictEqual } from 'node:util';
import { agentIdPattern } from '@lodge/domain';
import type { Admission, OperationCause } from '@lodge/domain';
import type { ChangeNote } from '@lodge/ports';
import {
  beginOfAgent,
  deleteKeys,
  factsOfAgent,
  holdCreates,
  holders,
  insertAgent,
  insertKeys,
  lockAgent,
  markDeleted,
  othersRunning,
  readCommitted,
  selectAgent,
  writeAgent,
} from '@lodge/store/agents';
import type { AgentChange, AgentFacts, AgentHolder, AgentRow, Committed, NewAgent } from '@lodge/store/agents';
import type { Database, Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { putChannel } from '../channels/put.ts';

export interface DecisionFacts extends AgentFacts {
  /**
   * Other agents of the account that run or are about to run. When `cause` is `request`, begun operations of the account
   * wait for each other.
   */
  readonly othersRunning: number;
}

/**
 * Creates an agent. `admit` sees the committed agents and throws to refuse; then nothing is written. `after` does so too, in
 * the transaction, once the row is there. The new agent has desired `running` and status `provisioning`. Refuses with
 * `channel_conflict`.
 */
export const insertAdmitted = (
  database: Database,
  agent: NewAgent,
  admit: (committed: Committed) => void,
  note?: ChangeNote,
  after?: (trx: Transaction) => Promise<unknown>,
): Promise<AgentRow> =>
  database.once((db) =>
    db.transaction().execute(async (trx) => {
      await holdCreates(trx);
      admit(await readCommitted(trx, agent.accountId));
      await insertAgent(trx, agent);
      const own = { type: 'agent.created', data: { name: agent.name } } as const;
      await writeNote(trx, { accountId: agent.accountId, agentId: agent.id }, own, note);
      for (const channel of agent.channels ?? []) {
        await putChannel(trx, { accountId: agent.accountId, agentId: agent.id, ...channel });
      }
      await after?.(trx);
      return (await selectAgent(trx, agent.id))!;
    }),
  );

/** Refuses an operation that takes memory, by the use that all other agents make of the host. */
export type AdmitMemory = (row: AgentRow, others: readonly AgentHolder[]) => void;

/**
 * Begins the operation, if `decide` answers `begin`, with a new generation and its event. With `admitMemory` it is counted as
 * a create is, and creates and other such operations wait until it is committed. Returns null when there is no such agent, or
 * it is being deleted.
 */
export async function beginOperation(
  database: Database,
  id: string,
  cause: OperationCause,
  decide: (facts: DecisionFacts) => Admission,
  note?: ChangeNote,
  admitMemory?: AdmitMemory,
): Promise<{ readonly row: AgentRow; readonly admission: Admission } | null> {
  if (!agentIdPattern.test(id)) return null;
  return database.transaction(async (trx) => {
    // Before the row's lock, as in a create, so that no two wait for each other.
    if (admitMemory) await holdCreates(trx);
    if ((await lockAgent(trx, id))?.desired !== 'running') return null;
    const facts = await factsOfAgent(trx, id);
    const { accountId } = facts.row;
    const others = cause === 'request' ? await othersRunning(trx, accountId, id) : 0;
    const admission = decide({ ...facts, othersRunning: others });
    if (admission.do !== 'begin') return { row: facts.row, admission };
    if (admitMemory) admitMemory(facts.row, await otherHolders(trx, id));
    const row = await beginOfAgent(trx, id, admission.kind, cause);
    const own = { type: 'agent.operation_begun', data: { kind: admission.kind, cause } } as const;
    await writeNote(trx, { accountId, agentId: id }, own, note);
    return { row, admission };
  });
}

/** The agents but `id` that hold resources of the host. Call it while creates are held back. */
export async function otherHolders(trx: Transaction, id: string): Promise<readonly AgentHolder[]> {
  return (await holders(trx)).filter((holder) => holder.id !== id);
}

/**
 * Changes an agent. `decide` sees it and names the change, or throws to refuse. Equal values are no change and have no event.
 * `generation` stays. `also` writes into other tables in the same transaction. Returns null when the account has no such agent.
 */
export async function changeAgent(
  database: Database,
  accountId: string,
  id: string,
  decide: (row: AgentRow) => AgentChange,
  note?: ChangeNote,
  also?: (trx: Transaction, before: AgentRow, after: AgentRow) => Promise<void>,
): Promise<AgentRow | null> {
  if (!agentIdPattern.test(id)) return null;
  return database.transaction(async (trx) => {
    if ((await lockAgent(trx, id))?.accountId !== accountId) return null;
    const row = (await selectAgent(trx, id))!;
    const change = changesIn(row, decide(row));
    const fields = Object.keys(change);
    if (fields.length === 0) return row;
    const { llmKeys, ...own } = change;
    if (llmKeys !== undefined) await replaceKeys(trx, row, llmKeys);
    // Rules that were put on a machine's network are known by their version.
    await writeAgent(trx, id, { ...own, ...(own.egress !== undefined && { egressVersion: row.egressVersion + 1 }) });
    const changed = await selectAgent(trx, id);
    await also?.(trx, row, changed!);
    await writeNote(trx, { accountId, agentId: id }, { type: 'agent.updated', data: { fields } }, note);
    return changed;
  });
}

/** Returns the change without values that are so already. */
function changesIn(row: AgentRow, { llmKeys, ...rest }: AgentChange): AgentChange {
  const changed = Object.entries(rest).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(value, row[name as keyof typeof rest]),
  );
  const isSame = llmKeys?.length === row.llmKeys.length && llmKeys.every(hasKey(row.llmKeys));
  return { ...Object.fromEntries(changed), ...(llmKeys !== undefined && !isSame && { llmKeys }) };
}

type Keys = NonNullable<AgentChange['llmKeys']>;

/** Whether these keys have this one, unchanged. */
const hasKey = (all: Keys) => (key: Keys[number]) =>
  all.some(({ provider, sealed }) => provider === key.provider && sealed === key.sealed);

/** Replaces the agent's keys. An unchanged key keeps its time of creation. */
async function replaceKeys(trx: Transaction, { id, llmKeys: there }: AgentRow, keys: Keys): Promise<void> {
  const gone = there.filter((key) => !hasKey(keys)(key));
  const added = keys.filter((key) => !hasKey(there)(key));
  if (gone.length > 0) {
    const providers = gone.map(({ provider }) => provider);
    await deleteKeys(trx, id, providers);
  }
  await insertKeys(trx, id, added);
}

/** Sets desired `deleted` and a new generation. Null when the account has no such agent. Repeating it changes nothing. */
export async function beginDelete(
  database: Database,
  accountId: string,
  id: string,
  note?: ChangeNote,
): Promise<AgentRow | null> {
  if (!agentIdPattern.test(id)) return null;
  return database.transaction(async (trx) => {
    const isNew = await markDeleted(trx, accountId, id);
    const row = await selectAgent(trx, id);
    if (isNew) await writeNote(trx, { accountId, agentId: id }, { type: 'agent.deleted', data: {} }, note);
    return row?.accountId === accountId ? row : null;
  });
}
