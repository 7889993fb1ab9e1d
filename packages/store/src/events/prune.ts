import type { EventBounds } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';

/** Events deleted in one statement: some tens of milliseconds. Nobody waits for their rows. */
const step = 2_000;

/** One look into an index per account, then deletes from the oldest on. What a kill leaves is found by the next run. */
export async function pruneEvents(database: Database, { maxEvents, maxAgeMs }: EventBounds): Promise<void> {
  const { rows } = await database.repeatable((db) =>
    sql<{ account_id: string; last: string }>`
      select a.id as account_id, greatest(crowded.id, aged.id) as last
      from accounts a
      left join lateral (
        select e.id from events e where e.account_id = a.id order by e.id desc offset ${maxEvents} limit 1
      ) crowded on true
      left join lateral (
        select e.id from events e
        where e.account_id = a.id and e.created_at < clock_timestamp() - ${maxAgeMs} * interval '1 millisecond'
        order by e.created_at desc, e.id desc limit 1
      ) aged on true
      where crowded.id is not null or aged.id is not null
    `.execute(db),
  );
  for (const { account_id, last } of rows) {
    for (let pruned = step; pruned === step;) {
      const { numAffectedRows } = await database.repeatable((db) =>
        sql`
          delete from events where account_id = ${account_id} and id in (
            select id from events where account_id = ${account_id} and id <= ${last}::bigint order by id limit ${step}
          )
        `.execute(db),
      );
      pruned = Number(numAffectedRows ?? 0n);
    }
  }
}
