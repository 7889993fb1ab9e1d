import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { kinds } from './kinds.ts';
import type { WorkKind } from './tables.ts';

/** Where ended pieces of a kind are. `order` rises with each. */
interface History {
  readonly table: string;
  readonly owners: string;
  readonly ownerId: string;
  readonly order: string;
}

const histories: Readonly<Record<WorkKind | 'delivery', History>> = {
  run: { ...kinds.run, order: 'seq' },
  message: { ...kinds.message, order: 'seq' },
  confirmation: { ...kinds.confirmation, order: 'seq' },
  delivery: { table: 'webhook_deliveries', owners: 'webhooks', ownerId: 'webhook_id', order: 'id' },
};

const step = 1_000;

/** Deletes ended pieces that are older, or beyond the newest of their owner, in steps so short that no writer waits long. */
export async function deleteEnded(
  database: Database,
  kind: keyof typeof histories,
  { kept, maxAgeMs }: { readonly kept: number; readonly maxAgeMs: number },
): Promise<void> {
  const of = histories[kind];
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
          select r.id from ${table} r where r.${sql.ref(of.ownerId)} = o.id and r.ended_at is not null
          order by r.${sql.ref(of.order)} desc offset ${kept} limit ${step}
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
