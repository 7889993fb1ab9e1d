/** Writes of reconcilers: facts of the host in one statement, a transition with its event in one transaction. */
import type { EndedOperation } from '@lodge/ports';
import { hideAgent, leaseOf, writeFacts, writeTransition } from '@lodge/store/agents';
import type { Observation } from '@lodge/store/agents';
import type { Database, Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { endSaveWith, endSnapshots } from '../saved/ends.ts';
import { endedBy } from './ended-operations.ts';

/**
 * Writes facts if `generation` is still the agent's and `holder` has the lease. Otherwise nothing is written: the caller's
 * decision is void. `ended` is the operation that ended with it. `also` writes into other tables in the transaction of an event.
 */
export async function observeAgent(
  database: Database,
  id: string,
  generation: number,
  holder: string,
  { event, ...observed }: Observation,
  also?: (trx: Transaction) => Promise<void>,
): Promise<{ readonly written: boolean; readonly ended: EndedOperation | null }> {
  const place = { id, generation, lease: leaseOf(database, holder) };
  const facts = { ...(observed.operation === null && noRestore), ...observed };
  if (event === undefined) {
    return { written: await database.repeatable((db) => writeFacts(db, place, facts)), ended: null };
  }
  return database.transaction(async (trx) => {
    const row = await writeTransition(trx, place, facts);
    if (row === undefined) return { written: false, ended: null };
    await also?.(trx);
    const ended = endedBy(row, event.type);
    // No snapshot is being saved once the operation that saves it has ended, however it did.
    if (ended !== null && saves.has(ended.kind)) {
      await endSaveWith(trx, { accountId: row.accountId, agentId: id }, event.type);
    }
    await appendEvent(trx, { ...event, accountId: row.accountId, agentId: id, by: null }, ended);
    return { written: true, ended };
  });
}

/** A restore is under way no longer than its operation. */
const noRestore = { restoreTo: null, restoreMemory: false, restoreBack: null } as const;

/** Operations that save a snapshot. */
const saves: ReadonlySet<EndedOperation['kind']> = new Set(['snapshot', 'restore', 'upgrade'] as const);

/** Removes secrets and hides the agent with its snapshots, once nothing of its VM is left on any host. */
export async function finishDelete(database: Database, id: string, holder: string): Promise<void> {
  await database.transaction(async (trx) => {
    const accountId = await hideAgent(trx, id, leaseOf(database, holder));
    if (accountId === null) return;
    await endSnapshots(trx, { accountId, agentId: id });
    await appendEvent(trx, { type: 'agent.removed', data: {}, accountId, agentId: id, by: null });
  });
}
