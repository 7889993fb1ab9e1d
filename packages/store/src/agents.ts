import { randomUUID } from 'node:crypto';
import { agentIdPattern } from '@lodge/domain';
import type { Admission, OperationCause, SizeName } from '@lodge/domain';
import type {
  AgentChange,
  AgentCount,
  AgentFilter,
  AgentRow,
  AgentStore,
  ChangeNote,
  Committed,
  DecisionFacts,
  NewAgent,
  Observation,
} from '@lodge/engine/ports';
import { sql } from 'kysely';
import type { ExpressionBuilder, ExpressionWrapper, Kysely, SqlBool, Transaction, Updateable } from 'kysely';
import { evictable, hold, idle, prolong, release } from './agent-activity.ts';
import { countAgents, readCommitted, sizesHeld } from './agent-capacity.ts';
import { begin, change, insertKeys, lifecycleColumns } from './agent-decisions.ts';
import { liveAgents, now, selectAgent, toAgentRow } from './agent-row.ts';
import { writeNote } from './change-note.ts';
import type { Changes } from './changes.ts';
import type { Database } from './connection.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { appendLog } from './log-rows.ts';
import type { AgentsTable, Schema } from './schema.ts';

/** Key of the advisory lock that a create holds until it is committed. */
const admissionLockKey = 7_302;

/**
 * The commit does not wait for the disk. A lease that a crash of the database forgets makes whatever was decided under it
 * void (`observe` asks for it), and is taken anew.
 */
const withoutSync = sql<SqlBool>`set_config('synchronous_commit', 'off', true) = 'off'`;

/** `AgentStore` in Postgres. A soft-deleted row stays for the calls that were metered on it. */
export class PostgresAgentStore implements AgentStore {
  private readonly database: Database;
  private readonly changes: Changes;
  /** Tells this process' leases from those of one that was killed on the same host, whose last write may still come. */
  private readonly session = randomUUID();

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  create(agent: NewAgent, admit: (committed: Committed) => void, note?: ChangeNote): Promise<AgentRow> {
    return this.database.once((db) =>
      db.transaction().execute(async (trx) => {
        // Released when the commit can be seen, so the next create counts this agent.
        await sql`select pg_advisory_xact_lock(${admissionLockKey})`.execute(trx);
        admit(await readCommitted(trx, agent.accountId));
        await insertAgent(trx, agent);
        const row = (await selectAgent(trx, agent.id))!;
        await writeNote(trx, note);
        return row;
      }),
    );
  }

  async get(accountId: string, id: string): Promise<AgentRow | null> {
    const row = await this.find(id);
    return row?.accountId === accountId ? row : null;
  }

  count(accountId: string): Promise<AgentCount> {
    return this.database.repeatable((db) => countAgents(db, accountId));
  }

  sizesHeld(except: string): Promise<readonly SizeName[]> {
    return this.database.repeatable((db) => sizesHeld(db, except));
  }

  async find(id: string): Promise<AgentRow | null> {
    if (!agentIdPattern.test(id)) return null;
    return this.database.repeatable((db) => selectAgent(db, id));
  }

  async list(filter: AgentFilter): Promise<{ readonly rows: readonly AgentRow[]; readonly nextCursor: string | null }> {
    const after = filter.cursor === undefined ? null : decodeCursor(filter.cursor);
    if (!canBeStored(filter.name ?? '', ...Object.entries(filter.metadata ?? {}).flat())) {
      return { rows: [], nextCursor: null };
    }
    const found = await this.database.repeatable((db) =>
      liveAgents(db)
        .where('account_id', '=', filter.accountId)
        .where((eb) => eb.and(conditionsOf(eb, filter)))
        .$if(after !== null, (query) =>
          query.where((eb) =>
            eb(
              eb.refTuple('created_at', 'id'),
              filter.order === 'asc' ? '>' : '<',
              eb.tuple(after!.createdAt, after!.id),
            ),
          ),
        )
        .orderBy('created_at', filter.order)
        .orderBy('id', filter.order)
        // One more than the page tells whether another follows.
        .limit(filter.limit + 1)
        .execute(),
    );
    const rows = found.slice(0, filter.limit).map(toAgentRow);
    return { rows, nextCursor: found.length > filter.limit ? encodeCursor(rows.at(-1)!) : null };
  }

  async markDeleted(accountId: string, id: string, note?: ChangeNote): Promise<AgentRow | null> {
    if (!agentIdPattern.test(id)) return null;
    return this.database.transaction(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('agents')
        .set((eb) => ({ desired: 'deleted', generation: eb('generation', '+', 1), updated_at: now }))
        .where('id', '=', id)
        .where('account_id', '=', accountId)
        .where('desired', '<>', 'deleted')
        .executeTakeFirst();
      const row = await selectAgent(trx, id);
      if (numUpdatedRows === 1n) await writeNote(trx, note);
      return row?.accountId === accountId ? row : null;
    });
  }

  async begin(
    id: string,
    cause: OperationCause,
    decide: (facts: DecisionFacts) => Admission,
    note?: ChangeNote,
  ): Promise<{ readonly row: AgentRow; readonly admission: Admission } | null> {
    return agentIdPattern.test(id) ? begin(this.database, id, cause, decide, note) : null;
  }

  async change(
    accountId: string,
    id: string,
    decide: (row: AgentRow) => AgentChange,
    note?: ChangeNote,
  ): Promise<AgentRow | null> {
    return agentIdPattern.test(id) ? change(this.database, accountId, id, decide, note) : null;
  }

  async hold(id: string, holder: string, ttlMs: number): Promise<AgentRow | null> {
    return agentIdPattern.test(id) ? hold(this.database, id, holder, ttlMs) : null;
  }

  prolong(ids: readonly string[], holder: string, ttlMs: number): Promise<void> {
    return prolong(this.database, ids, holder, ttlMs);
  }

  release(id: string, holder: string): Promise<void> {
    return release(this.database, id, holder);
  }

  idle(host: string, limit: number): Promise<readonly { readonly id: string; readonly verb: 'pause' | 'stop' }[]> {
    return idle(this.database, host, limit);
  }

  evictable(host: string, limit: number): Promise<readonly AgentRow[]> {
    return evictable(this.database, host, limit);
  }

  async touch(id: string, at: Date): Promise<void> {
    await this.database.repeatable((db) =>
      db
        .updateTable('agents')
        // Calls end in another order than they began: the latest counts.
        .set({ last_active_at: sql<Date>`greatest(last_active_at, ${at})` })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .execute(),
    );
  }

  async present(host: string): Promise<readonly AgentRow[]> {
    const rows = await this.database.repeatable((db) =>
      liveAgents(db)
        .where((eb) => eb.or([eb('host', '=', host), eb('host', 'is', null)]))
        .where((eb) =>
          eb.or([
            eb('desired', '=', 'deleted'),
            eb('status', 'in', ['provisioning', 'running', 'paused']),
            eb('operation_kind', 'is not', null),
          ]),
        )
        .orderBy('created_at')
        .execute(),
    );
    return rows.map(toAgentRow);
  }

  async existing(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.repeatable((db) =>
      db
        .selectFrom('agents')
        .select('id')
        .where('deleted_at', 'is', null)
        .where('id', '=', sql<string>`any(${ids})`)
        .execute(),
    );
    return new Set(rows.map(({ id }) => id));
  }

  async all(): Promise<readonly AgentRow[]> {
    const rows = await this.database.repeatable((db) => liveAgents(db).orderBy('created_at').execute());
    return rows.map(toAgentRow);
  }

  async lease(id: string, holder: string, ttlMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.database.repeatable((db) =>
      db
        .updateTable('agents')
        .set({
          lease_holder: this.leaseOf(holder),
          lease_until: sql<Date>`clock_timestamp() + ${ttlMs} * interval '1 millisecond'`,
        })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .where(withoutSync)
        .where((eb) =>
          eb.or([
            eb('lease_holder', 'is', null),
            // A process that was killed has not given it back; its successor on that host takes it over.
            eb(sql<string>`split_part(lease_holder, '#', 1)`, '=', holder),
            eb('lease_until', '<=', sql<Date>`clock_timestamp()`),
          ]),
        )
        .executeTakeFirst(),
    );
    return numUpdatedRows === 1n;
  }

  async releaseLease(id: string, holder: string): Promise<void> {
    await this.database.repeatable((db) =>
      db
        .updateTable('agents')
        .set({ lease_holder: null, lease_until: null })
        .where('id', '=', id)
        .where('lease_holder', '=', this.leaseOf(holder))
        .where(withoutSync)
        .execute(),
    );
  }

  async observe(id: string, generation: number, holder: string, facts: Observation): Promise<boolean> {
    const { log } = facts;
    const write = async (db: Kysely<Schema>) => {
      const { numUpdatedRows } = await db
        .updateTable('agents')
        .set({ ...columnsOf(facts), updated_at: now })
        .where('id', '=', id)
        .where('generation', '=', generation)
        .where((eb) => eb.and(heldBy(eb, this.leaseOf(holder))))
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    };
    if (log === undefined) return this.database.repeatable(write);
    return this.database.transaction(async (trx) => {
      const written = await write(trx);
      if (written) await appendLog(trx, id, [log]);
      return written;
    });
  }

  async finishDelete(id: string, holder: string): Promise<void> {
    await this.database.repeatable((db) =>
      db
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
            .where((eb) => eb.and(heldBy(eb, this.leaseOf(holder))))
            .returning('id'),
        )
        .with('holds', (cte) =>
          cte.deleteFrom('agent_holds').where('agent_id', 'in', (eb) => eb.selectFrom('gone').select('id')),
        )
        .with('ports', (cte) =>
          cte.deleteFrom('agent_ports').where('agent_id', 'in', (eb) => eb.selectFrom('gone').select('id')),
        )
        .with('visits', (cte) =>
          cte.deleteFrom('agent_visits').where('agent_id', 'in', (eb) => eb.selectFrom('gone').select('id')),
        )
        .with('positions', (cte) =>
          cte.deleteFrom('agent_log_positions').where('agent_id', 'in', (eb) => eb.selectFrom('gone').select('id')),
        )
        .deleteFrom('llm_keys')
        .where('agent_id', 'in', (eb) => eb.selectFrom('gone').select('id'))
        .execute(),
    );
  }

  onChange(listener: (agentId: string | null) => void): () => void {
    return this.changes.on('agent_changed', listener);
  }

  private leaseOf(holder: string): string {
    return `${holder}#${this.session}`;
  }
}

async function insertAgent(trx: Transaction<Schema>, agent: NewAgent): Promise<void> {
  // Later than the account's latest, even when the clock was set back: a page that was read stays before it.
  const createdAt = sql<Date>`(
    select greatest(clock_timestamp(), max(created_at) + interval '1 millisecond')
    from agents where account_id = ${agent.accountId} and deleted_at is null
  )`;
  await trx
    .insertInto('agents')
    .values({
      id: agent.id,
      account_id: agent.accountId,
      name: agent.name,
      description: agent.description,
      runtime_kind: agent.runtimeKind,
      model: agent.model,
      size: agent.size,
      ...lifecycleColumns(agent.lifecycle),
      metadata: JSON.stringify(agent.metadata),
      instructions: agent.instructions ?? null,
      dashboard: agent.dashboard ?? false,
      spend_limit: agent.spendLimit ? JSON.stringify(agent.spendLimit) : null,
      created_at: createdAt,
      updated_at: now,
    })
    .execute();
  await insertKeys(trx, agent.id, agent.llmKeys);
}

function conditionsOf(
  eb: ExpressionBuilder<Schema, 'agents'>,
  { status, runtimeKind, name, metadata }: AgentFilter,
): ExpressionWrapper<Schema, 'agents', SqlBool>[] {
  return [
    ...(status === undefined ? [] : [eb('status', '=', status)]),
    ...(runtimeKind === undefined ? [] : [eb('runtime_kind', '=', runtimeKind)]),
    // Not `ilike`: the characters it gives a meaning to are plain ones here.
    ...(name === undefined ? [] : [eb(sql<number>`position(lower(${name}) in lower(name))`, '>', 0)]),
    ...(metadata === undefined ? [] : [eb('metadata', '@>', sql<never>`${JSON.stringify(metadata)}::jsonb`)]),
  ];
}

/** Postgres has no text with NUL or half a surrogate pair, so nothing stored matches one, and asking is an error. */
const canBeStored = (...texts: readonly string[]): boolean =>
  texts.every((text) => text.isWellFormed() && !text.includes('\0'));

function heldBy(
  eb: ExpressionBuilder<Schema, 'agents'>,
  lease: string,
): ExpressionWrapper<Schema, 'agents', SqlBool>[] {
  return [
    eb('deleted_at', 'is', null),
    eb('lease_holder', '=', lease),
    eb('lease_until', '>', sql<Date>`clock_timestamp()`),
  ];
}

function columnsOf(facts: Observation): Updateable<AgentsTable> {
  const { status, statusReason, executionId, templateId, vmAddress, host, machine, acknowledged } = facts;
  const { startedAt, pausedAt, stoppedAt, crashes, operation, settingsApplied, runtimeVersion } = facts;
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
    ...(acknowledged !== undefined && { acknowledged }),
    ...(startedAt !== undefined && { started_at: startedAt }),
    ...(pausedAt !== undefined && { paused_at: pausedAt }),
    ...(stoppedAt !== undefined && { stopped_at: stoppedAt }),
    ...(crashes !== undefined && { crashes }),
    ...(operation !== undefined && { operation_kind: null, operation_cause: null, operation_started_at: null }),
  };
}
