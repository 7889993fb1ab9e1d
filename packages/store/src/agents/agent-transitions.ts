/** Writes of reconcilers: facts of the host in one statement, a transition with its event in one transaction. */
import type { EndedOperation } from '@lodge/ports';
import { sql } from 'kysely';
import { agentColumns, now } from './agent-row.ts';
import type { Observation } from './facts.ts';
import { heldBy } from './vm-lease.ts';
import type { Database, Queries } from '../database/database.ts';
import { appendEvent } from '../events/append.ts';
import { endedBy } from '../events/ended-operations.ts';

interface Observed {
  readonly written: boolean;
  /** The operation that ended with it. */
  readonly ended: EndedOperation | null;
}

const replaced = [
  'id',
  'status',
  'acknowledged',
  'operationKind',
  'operationCause',
  'operationStartedAt',
  'createdAt',
] as const;

/**
 * Writes facts if `generation` is still the agent's and `holder` has the lease. Otherwise nothing is written: the caller's
 * decision is void.
 */
export async function observeAgent(
  database: Database,
  id: string,
  generation: number,
  holder: string,
  { event, ...facts }: Observation,
): Promise<Observed> {
  const updating = (db: Queries) =>
    db
      .updateTable('agents')
      .set({ ...agentColumns(facts), updatedAt: now })
      .where('agents.id', '=', id)
      .where('agents.generation', '=', generation)
      .where(heldBy(database, holder));
  if (event === undefined) {
    const { numUpdatedRows } = await database.repeatable((db) => updating(db).executeTakeFirst());
    return { written: numUpdatedRows === 1n, ended: null };
  }
  return database.transaction(async (trx) => {
    const row = await updating(trx)
      // The row is locked before it is read, so `old` is the replaced state.
      .from((eb) => eb.selectFrom('agents').select(replaced).where('id', '=', id).forNoKeyUpdate().as('old'))
      .whereRef('agents.id', '=', 'old.id')
      .returning([
        'agents.accountId',
        'agents.status',
        'agents.operationKind as kind',
        'agents.statusReasonCode as reason',
        'old.status as oldStatus',
        'old.acknowledged as oldAcknowledged',
        'old.operationKind as oldKind',
        'old.operationCause as oldCause',
        sql<number>`extract(epoch from clock_timestamp() - coalesce(old.operation_started_at, old.created_at))::float8`.as(
          'seconds',
        ),
      ])
      .executeTakeFirst();
    if (row === undefined) return { written: false, ended: null };
    const ended = endedBy(row);
    await appendEvent(trx, { ...event, accountId: row.accountId, agentId: id, by: null }, ended);
    return { written: true, ended };
  });
}

/**
 * Tables whose rows end with their agent. A turn in progress for a schedule or a hook ends when it finds that its row is
 * gone.
 */
const ownTables = [
  'agent_holds',
  'agent_ports',
  'agent_visits',
  'agent_log_positions',
  'llm_keys',
  'channels',
  'channel_oauth_sessions',
  'connections',
  'schedules',
  'hooks',
] as const;

/** Removes secrets and hides the agent, once nothing of its VM is left on any host. */
export async function finishDelete(database: Database, id: string, holder: string): Promise<void> {
  await database.transaction(async (trx) => {
    const gone = await trx
      .with('gone', (cte) =>
        cte
          .updateTable('agents')
          .set({
            ...agentColumns({ operation: null, vmAddress: null }),
            deletedAt: now,
            updatedAt: now,
            leaseHolder: null,
            leaseUntil: null,
          })
          .where('id', '=', id)
          .where('desired', '=', 'deleted')
          .where(heldBy(database, holder))
          .returning(['id', 'accountId']),
      )
      .selectFrom('gone')
      .select('accountId')
      .executeTakeFirst();
    if (gone === undefined) return;
    for (const table of ownTables) {
      await sql`delete from ${sql.table(table)} where agent_id = ${id}`.execute(trx);
    }
    await appendEvent(trx, {
      type: 'agent.removed',
      data: {},
      accountId: gone.accountId,
      agentId: id,
      by: null,
    });
  });
}
