/**
 * Webhooks that a process delivers for. A lease ends only by the database's clock, its number rises with each holder, and every
 * write names the number.
 */
import { sql } from 'kysely';
import type { RawBuilder, Selectable, SqlBool } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { Webhooks } from '../database/tables.ts';
import { inMs, isHeldUnder, isUnheld, released, takenBy } from '../work/leases.ts';

export type HeldWebhook = Pick<
  Selectable<Webhooks>,
  | 'id'
  | 'accountId'
  | 'url'
  | 'patterns'
  | 'sealedSecret'
  | 'sealedPrevious'
  | 'previousUntil'
  | 'failingSince'
  | 'leaseNumber'
>;

const columns = sql`
  w.id, w.account_id, w.url, w.patterns, w.sealed_secret, w.sealed_previous, w.previous_until, w.failing_since, w.lease_number
`;

/** A condition on a row `w`. */
export const isHeld = ({ id, leaseNumber }: HeldWebhook): RawBuilder<SqlBool> => sql<SqlBool>`
  w.id = ${id} and ${isHeldUnder('w', leaseNumber)} and w.enabled
`;

const leaseRows = (held: readonly HeldWebhook[]): RawBuilder<unknown> => sql`
  unnest(${held.map(({ id }) => id)}::text[], ${held.map(({ leaseNumber }) => leaseNumber)}::integer[]) l (id, number)
`;

export interface WebhookClaim {
  readonly holder: string;
  readonly limit: number;
  readonly leaseMs: number;
}

/** Claims enabled webhooks that nobody holds and that have events or due deliveries, up to `limit`. */
export async function claimWebhooks(
  db: Queries,
  { holder, limit, leaseMs }: WebhookClaim,
): Promise<readonly HeldWebhook[]> {
  const { rows } = await sql<HeldWebhook>`
    with free as (
      select w.id from webhooks w
      where w.enabled and ${isUnheld('w')}
        and (
          exists (select from events e where e.account_id = w.account_id and e.id > w.position)
          or exists (
            select from webhook_deliveries d
            where d.webhook_id = w.id and d.state = 'pending' and d.next_at <= clock_timestamp()
          )
        )
      order by w.lease_until nulls first, w.id limit ${limit}
      for no key update skip locked
    )
    update webhooks w set ${takenBy('w', holder, leaseMs)} from free where w.id = free.id returning ${columns}
  `.execute(db);
  return rows;
}

/** Returns the webhooks that are still held, in their present state, so a new address or secret is used. */
export async function renewWebhooks(
  db: Queries,
  held: readonly HeldWebhook[],
  leaseMs: number,
): Promise<readonly HeldWebhook[]> {
  if (held.length === 0) return [];
  const { rows } = await sql<HeldWebhook>`
    update webhooks w set lease_until = ${inMs(leaseMs)} from ${leaseRows(held)}
    where w.id = l.id and ${isHeldUnder('w', sql.ref('l.number'))} and w.enabled
    returning ${columns}
  `.execute(db);
  return rows;
}

export async function releaseWebhooks(db: Queries, held: readonly HeldWebhook[]): Promise<void> {
  if (held.length === 0) return;
  await sql`
    update webhooks w set ${released('w')} from ${leaseRows(held)} where w.id = l.id and w.lease_number = l.number
  `.execute(db);
}

/** Locks the lease and the webhook until the transaction ends. False when the lease has ended. */
export async function lockHeldWebhook(trx: Transaction, held: HeldWebhook): Promise<boolean> {
  const { rows } = await sql`select from webhooks w where ${isHeld(held)} for no key update`.execute(trx);
  return rows.length === 1;
}
