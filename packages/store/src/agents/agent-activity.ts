import { agentIdPattern } from '@lodge/domain';
import { sql } from 'kysely';
import type { Expression, RawBuilder } from 'kysely';
import { agentJson, now, toAgentRow } from './agent-row.ts';
import type { AgentJson, AgentRow } from './agent-row.ts';
import { liveAgents } from './selecting.ts';
import type { Database } from '../database/database.ts';
import { inMs } from '../work/leases.ts';

/**
 * Keep-awake leases of agents, in the database, so all processes agree on which agents are idle. Every write here locks the
 * agent's row first, as a decision about the agent does (`begin`), and so comes either before it or after it.
 */

/** The agent of a row `active`; made once, because each chat asks for it. */
const activeAgent = agentJson('active');

/**
 * Takes a keep-awake lease for `holder` until `ttlMs` from now by the database's clock, and returns the row as it is then.
 * Waits for a decision in progress, so either the decision sees the lease, or the returned row shows the operation. There is
 * one lease per agent and holder, and taking it again prolongs it. Null when there is no such agent. One statement, because
 * it is on the path of every chat. `turn` counts a turn of the agent, if it can begin at once.
 */
export async function takeKeepAwake(
  database: Database,
  id: string,
  holder: string,
  ttlMs: number,
  { turn = false }: { readonly turn?: boolean } = {},
): Promise<AgentRow | null> {
  if (!agentIdPattern.test(id)) return null;
  const { rows } = await database.repeatable((db) =>
    sql<{ agent: AgentJson }>`
      with active as (
        update agents set last_active_at = greatest(last_active_at, clock_timestamp()),
          turns = turns + case when ${turn} and status = 'running' and operation_kind is null then 1 else 0 end
        where id = ${id} and deleted_at is null
        returning *
      ), held as (
        insert into agent_holds (agent_id, holder, until)
        select id, ${holder}, ${inMs(ttlMs)} from active
        on conflict (agent_id, holder) do update set until = greatest(agent_holds.until, excluded.until)
      )
      select ${activeAgent} as agent from active
    `.execute(db),
  );
  return rows[0] ? toAgentRow(rows[0].agent) : null;
}

/** Counts a turn that had to wait for its agent. */
export async function countTurn(database: Database, id: string): Promise<void> {
  await database.repeatable((db) => sql`update agents set turns = turns + 1 where id = ${id}`.execute(db));
}

/** Takes the line that the agent's next turn begins with. Null when there is none, or another turn has taken it. */
export async function takeTurnNote(database: Database, id: string): Promise<string | null> {
  return database.once(async (db) => {
    const { rows } = await sql<{ note: string }>`
      with noted as (select id, turn_note from agents where id = ${id} and turn_note is not null for update)
      update agents set turn_note = null from noted where agents.id = noted.id returning noted.turn_note as note
    `.execute(db);
    return rows[0]?.note ?? null;
  });
}

/** Gives a line back that never reached the agent. */
export async function returnTurnNote(database: Database, id: string, note: string): Promise<void> {
  await database.repeatable((db) =>
    sql`update agents set turn_note = ${note} where id = ${id} and turn_note is null`.execute(db),
  );
}

/** Prolongs leases. It recreates one that expired because its process stood still for long. */
export async function prolongKeepAwake(
  database: Database,
  ids: readonly string[],
  holder: string,
  ttlMs: number,
): Promise<void> {
  if (ids.length === 0) return;
  // Rows are locked in one order, so two processes that prolong for the same agents do not deadlock.
  await database.repeatable((db) =>
    sql`
      with live as (
        select id from agents where id = any(${[...ids]}::text[]) and deleted_at is null order by id for no key update
      ), active as (
        update agents set last_active_at = greatest(last_active_at, clock_timestamp()) from live where agents.id = live.id
      )
      insert into agent_holds (agent_id, holder, until)
      select id, ${holder}, ${inMs(ttlMs)} from live
      on conflict (agent_id, holder) do update set until = greatest(agent_holds.until, excluded.until)
    `.execute(db),
  );
}

/** Ends a lease and removes the agent's expired leases, which killed processes left. */
export async function endKeepAwake(database: Database, id: string, holder: string): Promise<void> {
  await database.repeatable((db) =>
    sql`
      with active as (
        update agents set last_active_at = greatest(last_active_at, clock_timestamp())
        where id = ${id} and deleted_at is null
        returning id
      )
      delete from agent_holds h using active
      where h.agent_id = active.id and (h.holder = ${holder} or h.until < clock_timestamp() - interval '1 hour')
    `.execute(db),
  );
}

interface IdleAgent {
  readonly id: string;
  readonly verb: 'pause' | 'stop';
}

/**
 * Returns agents of `host` whose idleness calls for a pause or stop, by the database's clock. They have no keep-awake lease
 * and no operation, and have been `running` or `paused` long enough. The longest idle come first.
 */
export async function idleAgents(database: Database, host: string, limit: number): Promise<readonly IdleAgent[]> {
  const { rows } = await database.repeatable((db) =>
    sql<IdleAgent>`
      select id, case status when 'running' then 'pause' else 'stop' end as verb
      from agents, lateral (select
        case status
          when 'running' then greatest(last_active_at, started_at, created_at)
          else greatest(last_active_at, paused_at, created_at)
        end as since,
        case status when 'running' then idle_timeout_seconds else stop_after_seconds end as seconds
      ) rest
      where host = ${host} and deleted_at is null and desired = 'running' and operation_kind is null
        and keep_awake = 'auto' and idle_timeout_seconds > 0
        and status in ('running', 'paused')
        and since + seconds * interval '1 second' <= clock_timestamp()
        and not ${isKeptAwake(sql.ref('agents.id'))}
      order by since, id
      limit ${limit}
    `.execute(db),
  );
  return rows;
}

/**
 * Returns paused agents of `host` that may be stopped for their memory, least recently active first. `keep_awake: always` is
 * never among them.
 */
export async function evictableAgents(database: Database, host: string, limit: number): Promise<readonly AgentRow[]> {
  const rows = await database.repeatable((db) =>
    liveAgents(db)
      .where('host', '=', host)
      .where('status', '=', 'paused')
      .where('desired', '=', 'running')
      .where('operationKind', 'is', null)
      .where('keepAwake', '=', 'auto')
      .where((eb) => eb.not(isKeptAwake(eb.ref('agents.id'))))
      .orderBy(sql`greatest(last_active_at, started_at, created_at)`)
      .orderBy('id')
      .limit(limit)
      .execute(),
  );
  return rows.map(({ agent }) => toAgentRow(agent));
}

/** A condition: a keep-awake lease of the agent is in force. */
export const isKeptAwake = (agentId: Expression<unknown>): RawBuilder<boolean> =>
  sql<boolean>`exists (select from agent_holds h where h.agent_id = ${agentId} and h.until > ${now})`;
