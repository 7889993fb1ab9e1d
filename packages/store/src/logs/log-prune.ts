import type { LogBounds } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';

/** Entries deleted in one statement: some tens of milliseconds. Nobody waits for their rows; appends lock only the head. */
const step = 2_000;

interface Excess {
  readonly agent_id: string;
  /** The oldest entry there is, and the newest one that goes. int8, which comes as text. */
  readonly first: string;
  readonly last: string;
}

/** Two looks into an index per agent, then deletes by ranges of ids. What a kill leaves is found by the next run. */
export async function pruneLogs(database: Database, { maxEntries, maxAgeMs }: LogBounds): Promise<void> {
  const { rows } = await database.repeatable((db) =>
    sql<Excess>`
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
    `.execute(db),
  );
  for (const { agent_id, first, last } of rows) {
    for (let from = BigInt(first); from <= BigInt(last); from += BigInt(step)) {
      const below = from + BigInt(step);
      await database.repeatable((db) =>
        sql`
          delete from agent_logs where agent_id = ${agent_id} and id >= ${from} and id < ${below} and id <= ${last}
        `.execute(db),
      );
    }
  }
}
