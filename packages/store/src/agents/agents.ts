import { agentIdPattern } from '@lodge/domain';
import type { Admission, OperationCause } from '@lodge/domain';
import { ChannelConflictError } from '@lodge/ports';
import type { ChangeNote, NewChannel } from '@lodge/ports';
import { sql } from 'kysely';
import type { Insertable, SqlBool } from 'kysely';
import { evictable, takeKeepAwake, idle, prolongKeepAwake, endKeepAwake } from './agent-activity.ts';
import { readCommitted } from './agent-capacity.ts';
import { begin, change, insertKeys } from './agent-decisions.ts';
import { agentColumns, now } from './agent-row.ts';
import type { AgentRow } from './agent-row.ts';
import { finishDelete, observe } from './agent-transitions.ts';
import type { AgentChange, AgentFilter, Committed, DecisionFacts, NewAgent, Observation } from './facts.ts';
import { agentPage, allAgents, findAgent, presentAgents, selectAgent } from './selecting.ts';
import type { AgentList } from './selecting.ts';
import { putChannel } from '../channels/channels.ts';
import { isUniqueViolation } from '../channels/states.ts';
import { writeNote } from '../events/change-note.ts';
import type { EndedOperations } from '../events/ended-operations.ts';
import type { Changes } from '../database/notifications.ts';
import type { Database, Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { Agents } from '../database/tables.ts';
import { inMs } from '../work/leases.ts';

/** Puts a channel. Throws a `ChannelConflictError`; nothing of the transaction is written then. */
async function putChannelOf(trx: Transaction, agent: NewAgent, channel: NewChannel): Promise<void> {
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

/** Agents in Postgres. Deleted agents (`deletedAt` set) are invisible to every method. */
export class AgentStore {
  private readonly database: Database;
  private readonly changes: Changes;
  private readonly ended: EndedOperations;

  constructor(database: Database, changes: Changes, ended: EndedOperations) {
    this.database = database;
    this.changes = changes;
    this.ended = ended;
  }

  /**
   * Creates an agent in one transaction. `admit` sees the committed agents and throws to refuse; then nothing is written.
   * The new agent has desired `running` and status `provisioning`. Rejects with a `ChannelConflictError`.
   */
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

  find(id: string): Promise<AgentRow | null> {
    return findAgent(this.database, id);
  }

  list(filter: AgentFilter): Promise<AgentList> {
    return this.database.repeatable((db) => agentPage(db, filter));
  }

  /** Sets desired `deleted` and a new generation. Null when the account has no such agent. Repeating it changes nothing. */
  async markDeleted(accountId: string, id: string, note?: ChangeNote): Promise<AgentRow | null> {
    if (!agentIdPattern.test(id)) return null;
    return this.database.transaction(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('agents')
        .set((eb) => ({ desired: 'deleted', generation: eb('generation', '+', 1), updatedAt: now }))
        .where('id', '=', id)
        .where('accountId', '=', accountId)
        .where('desired', '<>', 'deleted')
        .executeTakeFirst();
      const row = await selectAgent(trx, id);
      if (numUpdatedRows === 1n) {
        await writeNote(trx, { accountId, agentId: id }, { type: 'agent.deleted', data: {} }, note);
      }
      return row?.accountId === accountId ? row : null;
    });
  }

  /**
   * Decides in one transaction under the row's lock. When `decide` answers `begin`, the operation is written with a new
   * generation and its event. Returns null when there is no such agent, or it is being deleted.
   */
  async begin(
    id: string,
    cause: OperationCause,
    decide: (facts: DecisionFacts) => Admission,
    note?: ChangeNote,
  ): Promise<{ readonly row: AgentRow; readonly admission: Admission } | null> {
    return agentIdPattern.test(id) ? begin(this.database, id, cause, decide, note) : null;
  }

  /**
   * Changes an agent in one transaction under the row's lock. `decide` sees the agent and names the change, or throws to
   * refuse. Equal values are no change and have no event. `generation` stays. Returns null when the account has no such
   * agent.
   */
  async change(
    accountId: string,
    id: string,
    decide: (row: AgentRow) => AgentChange,
    note?: ChangeNote,
  ): Promise<AgentRow | null> {
    return agentIdPattern.test(id) ? change(this.database, accountId, id, decide, note) : null;
  }

  /**
   * Takes a keep-awake lease for `holder` until `ttlMs` from now by the database's clock, and returns the row as it is then.
   * Waits for a decision in progress, so either the decision sees the lease, or the returned row shows the operation. There
   * is one lease per agent and holder, and taking it again prolongs it. Sets `lastActiveAt`. Null when there is no such agent.
   */
  async takeKeepAwake(id: string, holder: string, ttlMs: number): Promise<AgentRow | null> {
    return agentIdPattern.test(id) ? takeKeepAwake(this.database, id, holder, ttlMs) : null;
  }

  /** Prolongs the leases of all these agents and sets `lastActiveAt`, in one statement. */
  prolongKeepAwake(ids: readonly string[], holder: string, ttlMs: number): Promise<void> {
    return prolongKeepAwake(this.database, ids, holder, ttlMs);
  }

  /** Ends a lease and sets `lastActiveAt`. */
  endKeepAwake(id: string, holder: string): Promise<void> {
    return endKeepAwake(this.database, id, holder);
  }

  /**
   * Returns agents of `host` whose idleness calls for a pause or stop, by the database's clock. They have no keep-awake
   * lease and no operation, and have been `running` or `paused` long enough. The longest idle come first, at most `limit`.
   */
  idle(host: string, limit: number): Promise<readonly { readonly id: string; readonly verb: 'pause' | 'stop' }[]> {
    return idle(this.database, host, limit);
  }

  /**
   * Returns paused agents of `host` that may be stopped for their memory, least recently active first. `keep_awake: always`
   * is never among them.
   */
  evictable(host: string, limit: number): Promise<readonly AgentRow[]> {
    return evictable(this.database, host, limit);
  }

  /**
   * Returns agents of `host`, or of no host yet, that have a machine, need one or must lose one. Agents that rest in
   * `stopped` or `error` are left out.
   */
  present(host: string): Promise<readonly AgentRow[]> {
    return this.database.repeatable((db) => presentAgents(db, host));
  }

  /** Returns every agent that is not deleted. */
  all(): Promise<readonly AgentRow[]> {
    return this.database.repeatable(allAgents);
  }

  /**
   * Takes the right to change this agent's VM for `holder`, until `ttlMs` from now by the database's clock. False when
   * another holder has it. Renewing one's own succeeds.
   */
  async lease(id: string, holder: string, ttlMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.database.repeatable((db) =>
      db
        .updateTable('agents')
        .set({
          leaseHolder: this.leaseOf(holder),
          leaseUntil: inMs(ttlMs),
        })
        .where('id', '=', id)
        .where('deletedAt', 'is', null)
        .where(withoutSync)
        .where((eb) =>
          eb.or([
            eb('leaseHolder', 'is', null),
            // A killed process has not released it. Its successor on that host takes it over.
            eb(sql<string>`split_part(lease_holder, '#', 1)`, '=', holder),
            eb('leaseUntil', '<=', sql<Date>`clock_timestamp()`),
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
        .set({ leaseHolder: null, leaseUntil: null })
        .where('id', '=', id)
        .where('leaseHolder', '=', this.leaseOf(holder))
        .where(withoutSync)
        .execute(),
    );
  }

  /**
   * Writes facts if `generation` is still the agent's and `holder` has the lease. False means that the caller's decision is
   * void.
   */
  async observe(id: string, generation: number, holder: string, facts: Observation): Promise<boolean> {
    const { written, ended } = await observe(this.database, { id, generation, lease: this.leaseOf(holder) }, facts);
    if (ended !== null) this.ended.tell(ended);
    return written;
  }

  /** Removes secrets and hides the agent, once nothing of its VM is left on any host. */
  finishDelete(id: string, holder: string): Promise<void> {
    return finishDelete(this.database, id, this.leaseOf(holder));
  }

  /**
   * Calls back with an agent's id whenever any process changed its row. Null means that anything may have changed, because
   * the connection was lost and is back.
   */
  onChange(listener: (agentId: string | null) => void): () => void {
    return this.changes.on('agent_changed', listener);
  }

  private leaseOf(holder: string): string {
    return `${holder}#${this.database.session}`;
  }
}

async function insertAgent(trx: Transaction, agent: NewAgent): Promise<void> {
  // The time is later than the account's latest, even when the clock was set back, so pages read before stay as they were.
  const createdAt = sql<Date>`(
    select greatest(clock_timestamp(), max(created_at) + interval '1 millisecond')
    from agents where account_id = ${agent.accountId} and deleted_at is null
  )`;
  const { llmKeys, channels: _, ...fields } = agent;
  await trx
    .insertInto('agents')
    .values({ ...(agentColumns(fields) as Insertable<Agents>), createdAt, updatedAt: now })
    .execute();
  await insertKeys(trx, agent.id, llmKeys);
}
