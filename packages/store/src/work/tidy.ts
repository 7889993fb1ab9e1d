/** Ends work that waited in vain, and deletes old rows in steps short enough that no writer waits long. */
import type { TidyBounds } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Transaction } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Schema } from '../database/schema.ts';
import type { WorkKind } from './tables.ts';
import { tableOf } from './work.ts';

const step = 1_000;
const maxExpired = 1_000;

/**
 * Ends the piece of the table `ended`, which `vain` makes and which has one or none, with its event, in the order of the
 * account's events. False when there is none.
 */
export type ExpireOne = (trx: Transaction<Schema>, vain: RawBuilder<unknown>) => Promise<boolean>;

export interface TidyTable {
  readonly kind: WorkKind;
  /** The table of the rows' owners, and the column with the owner's id. */
  readonly owners: string;
  readonly ownerId: string;
  readonly expireOne: ExpireOne;
}

export async function tidyWork(
  database: Database,
  of: TidyTable,
  { maxWaitMs, kept, maxAgeMs }: TidyBounds,
): Promise<void> {
  const table = sql.table(tableOf[of.kind]);
  const isVain = sql`
    w.attempts = 0 and w.claim_holder is null and w.due_at < clock_timestamp() - ${maxWaitMs} * interval '1 millisecond'
  `;
  const vain = sql`
    locked as materialized (
      select id from ${table} where id = (
        select w.id from work w where w.kind = ${of.kind} and ${isVain} order by w.due_at limit 1
      ) for no key update
    ), ended as (
      delete from work w using locked where w.kind = ${of.kind} and w.id = locked.id and ${isVain} returning w.*
    )
  `;
  for (let n = 0; n < maxExpired && (await database.transaction((trx) => of.expireOne(trx, vain))); n += 1);
  const steps: readonly RawBuilder<unknown>[] = [
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
