/** Deliveries of webhooks, as their owners see and request them. */
import type { DeliveryState } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { WebhookDeliveries } from '../database/tables.ts';

const columns = [
  'id',
  'webhookId',
  'eventId',
  'type',
  'agentId',
  'state',
  'attempts',
  'nextAt',
  'lastAttemptAt',
  'status',
  'reason',
  'durationMs',
  'createdAt',
  'endedAt',
] as const;

export type DeliveryRow = Pick<Selectable<WebhookDeliveries>, (typeof columns)[number]>;

export interface DeliveryPage {
  readonly limit: number;
  /** Returns deliveries before the one of this id, newest first. */
  readonly before?: string;
  readonly state?: DeliveryState;
}

export const deliveriesOf = (
  db: Queries,
  webhookId: string,
  { limit, before, state }: DeliveryPage,
): Promise<readonly DeliveryRow[]> =>
  db
    .selectFrom('webhookDeliveries')
    .select(columns)
    .where('webhookId', '=', webhookId)
    .$if(before !== undefined, (query) => query.where('id', '<', before!))
    .$if(state !== undefined, (query) => query.where('state', '=', state!))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

export const findDelivery = (db: Queries, webhookId: string, id: string): Promise<DeliveryRow | undefined> =>
  db
    .selectFrom('webhookDeliveries')
    .select(columns)
    .where('webhookId', '=', webhookId)
    .where('id', '=', id)
    .executeTakeFirst();

/** Puts a separate delivery that is due at once, whatever the patterns are. */
export const insertDelivery = (trx: Transaction, webhookId: string, type: string, body: string): Promise<DeliveryRow> =>
  trx
    .insertInto('webhookDeliveries')
    .values({ webhookId, type, body, state: 'pending', nextAt: sql<Date>`clock_timestamp()` })
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Makes a delivery due at once, with a fresh count of attempts. A pending one keeps its count. */
export const repeatDelivery = (trx: Transaction, webhookId: string, id: string): Promise<DeliveryRow | undefined> =>
  trx
    .updateTable('webhookDeliveries')
    .set({
      attempts: sql<number>`case when state = 'pending' then attempts else 0 end`,
      state: 'pending',
      nextAt: sql<Date>`clock_timestamp()`,
      endedAt: null,
      firstAttemptAt: null,
    })
    .where('webhookId', '=', webhookId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirst();
