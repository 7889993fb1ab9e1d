/** Writes of reconcilers, which take effect only under the agent's lease. */
import { sql } from 'kysely';
import { agentColumns, now } from './agent-row.ts';
import type { AgentFields } from './agent-row.ts';
import { heldBy } from './vm-lease.ts';
import type { Queries, Transaction } from '../database/database.ts';

interface Place {
  readonly id: string;
  readonly generation: number;
  readonly lease: string;
}

const updating = (db: Queries, { id, generation, lease }: Place, facts: AgentFields) =>
  db
    .updateTable('agents')
    .set({ ...agentColumns(facts), updatedAt: now })
    .where('agents.id', '=', id)
    .where('agents.generation', '=', generation)
    .where(heldBy(lease));

/** False when the place is another's by now. */
export async function writeFacts(db: Queries, place: Place, facts: AgentFields): Promise<boolean> {
  const { numUpdatedRows } = await updating(db, place, facts).executeTakeFirst();
  return numUpdatedRows === 1n;
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

/** An agent's row before and after a transition, by the database's clock. */
export type Transited = NonNullable<Awaited<ReturnType<typeof writeTransition>>>;

/** Undefined when the place is another's by now. */
export const writeTransition = (trx: Transaction, place: Place, facts: AgentFields) =>
  updating(trx, place, facts)
    // The row is locked before it is read, so `old` is the replaced state.
    .from((eb) => eb.selectFrom('agents').select(replaced).where('id', '=', place.id).forNoKeyUpdate().as('old'))
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
      // Seconds since the operation began, or since the create when none is in progress.
      sql<number>`extract(epoch from clock_timestamp() - coalesce(old.operation_started_at, old.created_at))::float8`.as(
        'seconds',
      ),
    ])
    .executeTakeFirst();

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
  'agent_skills',
  'schedules',
  'hooks',
] as const;

/** Ends an agent of which nothing is left, and returns its account. Null when that is not wished, or the lease is another's. */
export async function hideAgent(trx: Transaction, id: string, lease: string): Promise<string | null> {
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
        .where(heldBy(lease))
        .returning(['id', 'accountId']),
    )
    .selectFrom('gone')
    .select('accountId')
    .executeTakeFirst();
  if (gone === undefined) return null;
  for (const table of ownTables) {
    await sql`delete from ${sql.table(table)} where agent_id = ${id}`.execute(trx);
  }
  return gone.accountId;
}
