import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { kinds } from './kinds.ts';
import type { WorkKind } from './tables.ts';

const step = 1_000;

/** Deletes ended pieces that are older, or beyond the newest of their owner, in steps so short that no writer waits long. */
export async function deleteEnded(
  database: Database,
  kind: WorkKind,
  { kept, maxAgeMs }: { readonly kept: number; readonly maxAgeMs: number },
): Promise<void> {
  const of = kinds[kind];
  const table = sql.table(of.table);
  const steps = [
    sql`
      delete from ${table} where id in (
        select id from ${table} where ended_at < clock_timestamp() - ${maxAgeMs} * interval '1 millisecond'
        order by ended_at limit ${step}
      )
    `,
    sql`
      delete from ${table} where id in (
        select old.id from ${sql.table(of.owners)} o cross join lateral (
          select r.id from ${table} r where r.${sql.ref(of.ownerId)} = o.id and r.status is not null
          order by r.seq desc offset ${kept} limit ${step}
        ) old limit ${step}
      )
    `,
  ];
  for (const statement of steps) {
    for (let pruned = step; pruned === step;) {
      const { numAffectedRows } = await database.repeatable((db) => statement.execute(db));
      pruned = Number(numAffectedRows ?? 0n);
    }
  }
}
