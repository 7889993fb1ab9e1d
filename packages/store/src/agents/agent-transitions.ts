/** Writes of reconcilers: facts of the host in one statement, a transition with its event in one transaction. */
import type { EndedOperation, Observation } from '@lodge/ports';
import { sql } from 'kysely';
import type { ExpressionBuilder, ExpressionWrapper, Kysely, SqlBool, Updateable } from 'kysely';
import { now } from './agent-row.ts';
import type { Database } from '../database/connection.ts';
import type { AgentsTable, Schema } from '../database/schema.ts';
import { appendEvent } from '../events/append.ts';
import { endedBy } from '../events/ended-operations.ts';

interface Place {
  readonly id: string;
  readonly generation: number;
  readonly lease: string;
}

interface Observed {
  readonly written: boolean;
  /** The operation that ended with it. */
  readonly ended: EndedOperation | null;
}

const replaced = [
  'id',
  'status',
  'acknowledged',
  'operation_kind',
  'operation_cause',
  'operation_started_at',
  'created_at',
] as const;

export async function observe(database: Database, place: Place, facts: Observation): Promise<Observed> {
  const { event } = facts;
  if (event === undefined) {
    const { numUpdatedRows } = await database.repeatable((db) => updating(db, place, facts).executeTakeFirst());
    return { written: numUpdatedRows === 1n, ended: null };
  }
  return database.transaction(async (trx) => {
    const row = await updating(trx, place, facts)
      // The row is locked before it is read, so `old` is the replaced state.
      .from((eb) => eb.selectFrom('agents').select(replaced).where('id', '=', place.id).forNoKeyUpdate().as('old'))
      .whereRef('agents.id', '=', 'old.id')
      .returning([
        'agents.account_id',
        'agents.status',
        'agents.operation_kind as kind',
        'agents.status_reason_code as reason',
        'old.status as old_status',
        'old.acknowledged as old_acknowledged',
        'old.operation_kind as old_kind',
        'old.operation_cause as old_cause',
        sql<number>`extract(epoch from clock_timestamp() - coalesce(old.operation_started_at, old.created_at))::float8`.as(
          'seconds',
        ),
      ])
      .executeTakeFirst();
    if (row === undefined) return { written: false, ended: null };
    const ended = endedBy(row);
    await appendEvent(trx, { ...event, accountId: row.account_id, agentId: place.id, by: null }, ended);
    return { written: true, ended };
  });
}

const updating = (db: Kysely<Schema>, { id, generation, lease }: Place, facts: Observation) =>
  db
    .updateTable('agents')
    .set({ ...columnsOf(facts), updated_at: now })
    .where('agents.id', '=', id)
    .where('agents.generation', '=', generation)
    .where((eb) => eb.and(heldBy(eb, lease)));

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

/** Ends an agent of which nothing is left on its host. */
export async function finishDelete(database: Database, id: string, lease: string): Promise<void> {
  await database.transaction(async (trx) => {
    const gone = await trx
      .with('gone', (cte) =>
        cte
          .updateTable('agents')
          .set({
            deleted_at: now,
            updated_at: now,
            vm_address: null,
            lease_holder: null,
            lease_until: null,
            operation_kind: null,
            operation_cause: null,
            operation_started_at: null,
          })
          .where('id', '=', id)
          .where('desired', '=', 'deleted')
          .where((eb) => eb.and(heldBy(eb, lease)))
          .returning(['id', 'account_id']),
      )
      .selectFrom('gone')
      .select('account_id')
      .executeTakeFirst();
    if (gone === undefined) return;
    for (const table of ownTables) {
      await sql`delete from ${sql.table(table)} where agent_id = ${id}`.execute(trx);
    }
    await appendEvent(trx, {
      type: 'agent.removed',
      data: {},
      accountId: gone.account_id,
      agentId: id,
      by: null,
    });
  });
}

function heldBy(
  eb: ExpressionBuilder<Schema, 'agents'>,
  lease: string,
): ExpressionWrapper<Schema, 'agents', SqlBool>[] {
  return [
    eb('agents.deleted_at', 'is', null),
    eb('agents.lease_holder', '=', lease),
    eb('agents.lease_until', '>', sql<Date>`clock_timestamp()`),
  ];
}

function columnsOf(facts: Observation): Updateable<AgentsTable> {
  const { status, statusReason, executionId, templateId, vmAddress, host, machine, acknowledged } = facts;
  const { startedAt, pausedAt, stoppedAt, crashes, operation, settingsApplied, egressApplied, runtimeVersion } = facts;
  return {
    ...(status !== undefined && { status }),
    ...(statusReason !== undefined && {
      status_reason_code: statusReason?.code ?? null,
      status_reason_message: statusReason?.message ?? null,
      status_reason_at: statusReason?.at ?? null,
    }),
    ...(executionId !== undefined && { execution_id: executionId }),
    ...(templateId !== undefined && { template_id: templateId }),
    ...(runtimeVersion !== undefined && { runtime_version: runtimeVersion }),
    ...(vmAddress !== undefined && { vm_address: vmAddress }),
    ...(host !== undefined && { host }),
    ...(machine !== undefined && {
      machine_vcpus: machine.vcpus,
      machine_memory_mib: machine.memoryMib,
      machine_disk_gib: machine.diskGib,
    }),
    ...(settingsApplied !== undefined && { settings_applied: settingsApplied }),
    ...(egressApplied !== undefined && { egress_applied: egressApplied }),
    ...(acknowledged !== undefined && { acknowledged }),
    ...(startedAt !== undefined && { started_at: startedAt }),
    ...(pausedAt !== undefined && { paused_at: pausedAt }),
    ...(stoppedAt !== undefined && { stopped_at: stoppedAt }),
    ...(crashes !== undefined && { crashes }),
    ...(operation !== undefined && { operation_kind: null, operation_cause: null, operation_started_at: null }),
  };
}
