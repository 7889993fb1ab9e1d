import type { LogBounds } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database, Queries } from '../database/database.ts';

/**
 * Entries deleted in one transaction, which takes some tens of milliseconds. Nobody waits for their rows, because appends
 * lock only the head.
 */
const step = 2_000;

interface Excess {
  readonly agentId: string;
  /** The oldest entry, and the newest one to delete. int8, which comes as text. */
  readonly first: string;
  readonly last: string;
}

/** Deletes by ranges of ids, each in a transaction of its own, so no writer waits long. The next run continues after a kill. */
export async function pruneLogs(database: Database, { maxEntries, maxBytes, maxAgeMs }: LogBounds): Promise<void> {
  for (const { agentId, first, last } of await database.repeatable((db) => overCountOrAge(db, maxEntries, maxAgeMs))) {
    for (let from = BigInt(first); from <= BigInt(last); from += BigInt(step)) {
      const to = from + BigInt(step) - 1n;
      await remove(database, agentId, to < BigInt(last) ? to : BigInt(last));
    }
  }
  for (const agentId of await database.repeatable((db) => overBytes(db, maxBytes))) {
    for (;;) {
      const last = await database.repeatable((db) => oldestOverBytes(db, agentId, maxBytes));
      if (last === null) break;
      await remove(database, agentId, last);
    }
  }
}

/** Returns logs over the bounds on count or age, with two looks into an index for each agent. */
async function overCountOrAge(db: Queries, maxEntries: number, maxAgeMs: number): Promise<readonly Excess[]> {
  const { rows } = await sql<Excess>`
      select h.agent_id, oldest.id as first, greatest(h.last_id - ${maxEntries}, aged.id) as last
      from agent_log_heads h
      cross join lateral (
        select l.id from agent_logs l where l.agent_id = h.agent_id order by l.id limit 1
      ) oldest
      left join lateral (
        select l.id from agent_logs l
        where l.agent_id = h.agent_id and l.at < clock_timestamp() - ${maxAgeMs} * interval '1 millisecond'
        order by l.at desc, l.id desc limit 1
      ) aged on true
      where oldest.id <= greatest(h.last_id - ${maxEntries}, aged.id)
    `.execute(db);
  return rows;
}

/** Returns logs over the bound on bytes, by their heads alone. */
async function overBytes(db: Queries, maxBytes: number): Promise<readonly string[]> {
  const { rows } = await sql<{
    agentId: string;
  }>`select agent_id from agent_log_heads where bytes > ${maxBytes}`.execute(db);
  return rows.map(({ agentId }) => agentId);
}

/** Returns the newest of the oldest entries that must go, at most a step of them; null when the log is within the bound. */
async function oldestOverBytes(db: Queries, agentId: string, maxBytes: number): Promise<bigint | null> {
  const { rows } = await sql<{ last: string | null }>`
      select max(id) as last from (
        select l.id, h.bytes - coalesce(sum(
          case when l.id > h.counted_after then octet_length(l.message) else 0 end
        ) over (order by l.id rows between unbounded preceding and 1 preceding), 0) as kept
        from agent_log_heads h
        cross join lateral (
          select id, message from agent_logs where agent_id = h.agent_id order by id limit ${step}
        ) l
        where h.agent_id = ${agentId}
      ) oldest
      where kept > ${maxBytes}
    `.execute(db);
  const last = rows[0]?.last ?? null;
  return last === null ? null : BigInt(last);
}

/** Deletes entries up to that id and subtracts their bytes from the head, both or neither. */
async function remove(database: Database, agentId: string, last: bigint): Promise<void> {
  await database.transaction(async (trx) => {
    const { rows } = await sql<{ bytes: string | null }>`
      with gone as (
        delete from agent_logs where agent_id = ${agentId} and id <= ${last} returning id, octet_length(message) as bytes
      )
      select sum(gone.bytes) as bytes from gone, agent_log_heads h
      where h.agent_id = ${agentId} and gone.id > h.counted_after
    `.execute(trx);
    await sql`
      update agent_log_heads set bytes = bytes - ${rows[0]?.bytes ?? 0}::bigint where agent_id = ${agentId}
    `.execute(trx);
  });
}
