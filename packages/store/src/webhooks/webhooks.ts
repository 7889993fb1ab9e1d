/** Webhooks, without their secrets and leases. */
import { sql } from 'kysely';
import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { Webhooks } from '../database/tables.ts';

const plain = [
  'id',
  'accountId',
  'url',
  'description',
  'patterns',
  'enabled',
  'disabledReason',
  'secretLast4',
  'failingSince',
  'createdAt',
  'updatedAt',
] as const;

const columns = [
  ...plain,
  sql<Date | null>`case when webhooks.previous_until > clock_timestamp() then webhooks.previous_until end`.as(
    'previousUntil',
  ),
  sql<number>`(
    select count(*)::int from webhook_deliveries d where d.webhook_id = webhooks.id and d.state = 'pending'
  )`.as('pending'),
] as const;

export interface WebhookRow extends Pick<Selectable<Webhooks>, (typeof plain)[number]> {
  /** The time until which the previous secret signs too; null when none does. */
  readonly previousUntil: Date | null;
  /** The number of its pending deliveries. */
  readonly pending: number;
}

/** Returns the account's webhooks, oldest first. */
export const webhooksOf = (db: Queries, accountId: string): Promise<readonly WebhookRow[]> =>
  db
    .selectFrom('webhooks')
    .select(columns)
    .where('accountId', '=', accountId)
    .orderBy('createdAt')
    .orderBy('id')
    .execute();

export const findWebhook = (db: Queries, accountId: string, id: string): Promise<WebhookRow | undefined> =>
  db.selectFrom('webhooks').select(columns).where('accountId', '=', accountId).where('id', '=', id).executeTakeFirst();

/** Locks the webhook until the transaction ends. */
export const lockWebhook = (
  trx: Transaction,
  accountId: string,
  id: string,
): Promise<Pick<Selectable<Webhooks>, 'enabled' | 'sealedSecret'> | undefined> =>
  trx
    .selectFrom('webhooks')
    .select(['enabled', 'sealedSecret'])
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();

/** Locks the account until the transaction ends, and counts its webhooks. */
export async function countWebhooks(trx: Transaction, accountId: string): Promise<number> {
  await sql`select from accounts where id = ${accountId} for no key update`.execute(trx);
  const { n } = await trx
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<string>().as('n'))
    .where('accountId', '=', accountId)
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** The position behind which an account has no events yet. */
const afterEvents = (accountId: string) =>
  sql<string>`(select coalesce(max(e.id), 0) from events e where e.account_id = ${accountId})`;

/** Puts a webhook that receives events from now on. */
export const insertWebhook = (trx: Transaction, webhook: Omit<Insertable<Webhooks>, 'position'>): Promise<WebhookRow> =>
  trx
    .insertInto('webhooks')
    .values({ ...webhook, position: afterEvents(webhook.accountId) })
    .returning(columns)
    .executeTakeFirstOrThrow();

export const updateWebhook = (
  trx: Transaction,
  id: string,
  changes: Omit<Updateable<Webhooks>, 'position'>,
): Promise<WebhookRow> =>
  trx
    .updateTable('webhooks')
    .set({ ...changes, updatedAt: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Leaves out the events until now: they can be read as events. Events may be pruned, and the position never goes back. */
export async function skipEvents(trx: Transaction, accountId: string, id: string): Promise<void> {
  const position = sql<string>`greatest(webhooks.position, ${afterEvents(accountId)})`;
  await trx.updateTable('webhooks').set({ position }).where('id', '=', id).execute();
}

/** Ends the lease of the process that delivers for the webhook. One that no process has held has none. */
export async function endWebhookLease(trx: Transaction, id: string): Promise<void> {
  await trx
    .updateTable('webhooks')
    .set({ leaseUntil: sql<Date>`least(lease_until, clock_timestamp())` })
    .where('id', '=', id)
    .where('leaseUntil', 'is not', null)
    .execute();
}

/** Deletes the webhook with its deliveries, and returns whether there was one. */
export async function deleteWebhook(trx: Transaction, accountId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('webhooks')
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
