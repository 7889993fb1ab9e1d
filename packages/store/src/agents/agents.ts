import { randomUUID } from 'node:crypto';
import { agentIdPattern } from '@lodge/domain';
import { ChannelConflictError } from '@lodge/ports';
import type { Admission, OperationCause, SizeName } from '@lodge/domain';
import type {
  AgentChange,
  AgentCount,
  AgentFilter,
  AgentHolder,
  AgentRow,
  AgentStore,
  ChangeNote,
  Committed,
  DecisionFacts,
  NewAgent,
  NewChannel,
  Observation,
} from '@lodge/ports';
import { sql } from 'kysely';
import type { ExpressionBuilder, ExpressionWrapper, SqlBool, Transaction } from 'kysely';
import { evictable, takeKeepAwake, idle, prolongKeepAwake, endKeepAwake } from './agent-activity.ts';
import { countAgents, holders, readCommitted, sizesHeld } from './agent-capacity.ts';
import { begin, change, insertKeys, lifecycleColumns } from './agent-decisions.ts';
import { agentById, liveAgents, now, selectAgent, toAgentRow } from './agent-row.ts';
import { finishDelete, observe } from './agent-transitions.ts';
import { putChannel } from '../channels/channels.ts';
import { isUniqueViolation } from '../channels/states.ts';
import { writeNote } from '../events/change-note.ts';
import type { EndedOperations } from '../events/ended-operations.ts';
import type { Changes } from '../database/notifications.ts';
import type { Database } from '../database/connection.ts';
import { decodeCursor, encodeCursor } from '../database/cursor.ts';
import type { Schema } from '../database/schema.ts';
import { advisoryLocks } from '../database/locks.ts';
import { inMs } from '../work/leases.ts';

/** Puts a channel. Throws a `ChannelConflictError`; nothing of the transaction is written then. */
async function putChannelOf(trx: Transaction<Schema>, agent: NewAgent, channel: NewChannel): Promise<void> {
  try {
    await putChannel(trx, { accountId: agent.accountId, agentId: agent.id, ...channel }, undefined);
  } catch (error) {
    throw isUniqueViolation(error) ? new ChannelConflictError(channel.channel) : error;
  }
}

/**
 * Commits without waiting for the disk. A lease that a crash of the database forgets is taken anew, and every decision made
 * under it is void, because `observe` checks the lease.
 */
const withoutSync = sql<SqlBool>`set_config('synchronous_commit', 'off', true) = 'off'`;

/** `AgentStore` in Postgres. A soft-deleted row stays for its metered calls. */
export class PostgresAgentStore implements AgentStore {
  private readonly database: Database;
  private readonly changes: Changes;
  private readonly ended: EndedOperations;
  /** Tells this process's leases from those of a killed process on the same host, whose last write may still come. */
  private readonly session = randomUUID();

  constructor(database: Database, changes: Changes, ended: EndedOperations) {
    this.database = database;
    this.changes = changes;
    this.ended = ended;
  }

  create(agent: NewAgent, admit: (committed: Committed) => void, note?: ChangeNote): Promise<AgentRow> {
    return this.database.once((db) =>
      db.transaction().execute(async (trx) => {
        // The lock is released when the commit becomes visible, so the next create counts this agent.
        await sql`select pg_advisory_xact_lock(${advisoryLocks.createAgent})`.execute(trx);
        admit(await readCommitted(trx, agent.accountId));
        await insertAgent(trx, agent);
        const own = { type: 'agent.created', data: { name: agent.name } } as const;
        await writeNote(trx, { accountId: agent.accountId, agentId: agent.id }, own, note);
        for (const channel of agent.channels ?? []) await putChannelOf(trx, agent, channel);
        return (await selectAgent(trx, agent.id))!;
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

  holders(): Promise<readonly AgentHolder[]> {
    return this.database.repeatable((db) => holders(db));
  }

  async find(id: string): Promise<AgentRow | null> {
    if (!agentIdPattern.test(id)) return null;
    const [row] = await this.database.read(agentById, [id]);
    return row ? toAgentRow(row) : null;
  }

  async list(filter: AgentFilter): Promise<{ readonly rows: readonly AgentRow[]; readonly nextCursor: string | null }> {
    const after = filter.cursor === undefined ? null : decodeCursor(filter.cursor);
    if (!canBeStored(...textsOf(filter))) {
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
        // One more row than the page shows whether another page follows.
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
      if (numUpdatedRows === 1n) {
        await writeNote(trx, { accountId, agentId: id }, { type: 'agent.deleted', data: {} }, note);
      }
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

  async takeKeepAwake(id: string, holder: string, ttlMs: number): Promise<AgentRow | null> {
    return agentIdPattern.test(id) ? takeKeepAwake(this.database, id, holder, ttlMs) : null;
  }

  prolongKeepAwake(ids: readonly string[], holder: string, ttlMs: number): Promise<void> {
    return prolongKeepAwake(this.database, ids, holder, ttlMs);
  }

  endKeepAwake(id: string, holder: string): Promise<void> {
    return endKeepAwake(this.database, id, holder);
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
        // Calls end in another order than they began, so the latest time counts.
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
          lease_until: inMs(ttlMs),
        })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .where(withoutSync)
        .where((eb) =>
          eb.or([
            eb('lease_holder', 'is', null),
            // A killed process has not released it. Its successor on that host takes it over.
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
    const { written, ended } = await observe(this.database, { id, generation, lease: this.leaseOf(holder) }, facts);
    if (ended !== null) this.ended.tell(ended);
    return written;
  }

  finishDelete(id: string, holder: string): Promise<void> {
    return finishDelete(this.database, id, this.leaseOf(holder));
  }

  onChange(listener: (agentId: string | null) => void): () => void {
    return this.changes.on('agent_changed', listener);
  }

  private leaseOf(holder: string): string {
    return `${holder}#${this.session}`;
  }
}

async function insertAgent(trx: Transaction<Schema>, agent: NewAgent): Promise<void> {
  // The time is later than the account's latest, even when the clock was set back, so pages read before stay as they were.
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
      labels: JSON.stringify(agent.labels ?? {}),
      metadata: JSON.stringify(agent.metadata),
      instructions: agent.instructions ?? null,
      dashboard: agent.dashboard ?? false,
      spend_limit: agent.spendLimit ? JSON.stringify(agent.spendLimit) : null,
      ...(agent.egress && { egress: JSON.stringify(agent.egress) }),
      models: agent.models ?? null,
      ...(agent.peers && { peers: agent.peers }),
      created_at: createdAt,
      updated_at: now,
    })
    .execute();
  await insertKeys(trx, agent.id, agent.llmKeys);
}

function conditionsOf(
  eb: ExpressionBuilder<Schema, 'agents'>,
  { status, runtimeKind, name, labels, hasLabel, metadata }: AgentFilter,
): ExpressionWrapper<Schema, 'agents', SqlBool>[] {
  return [
    ...(status === undefined ? [] : [eb('status', '=', status)]),
    ...(runtimeKind === undefined ? [] : [eb('runtime_kind', '=', runtimeKind)]),
    // `ilike` would give a meaning to some characters, which are plain here.
    ...(name === undefined ? [] : [eb(sql<number>`position(lower(${name}) in lower(name))`, '>', 0)]),
    ...(labels === undefined ? [] : [eb('labels', '@>', sql<never>`${JSON.stringify(labels)}::jsonb`)]),
    ...(hasLabel === undefined ? [] : [eb('labels', '?', sql<never>`${hasLabel}`)]),
    ...(metadata === undefined ? [] : [eb('metadata', '@>', sql<never>`${JSON.stringify(metadata)}::jsonb`)]),
  ];
}

/** The texts of a filter that somebody wrote. */
const textsOf = ({ name = '', labels = {}, hasLabel = '', metadata = {} }: AgentFilter): string[] => [
  name,
  hasLabel,
  ...[labels, metadata].flatMap((pairs) => Object.entries(pairs).flat()),
];

/**
 * Whether Postgres can store the texts. It stores no NUL and no half of a surrogate pair, so no row matches such a text, and
 * a query with one is an error.
 */
const canBeStored = (...texts: readonly string[]): boolean =>
  texts.every((text) => text.isWellFormed() && !text.includes('\0'));
