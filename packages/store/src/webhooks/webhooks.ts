/** `WebhookStore` in Postgres. */
import type { Happening } from '@lodge/domain';
import type {
  ActorNote,
  DeliveryQuery,
  DeliveryRow,
  NewWebhook,
  WebhookChange,
  WebhookRow,
  WebhookStore,
} from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Changes } from '../database/notifications.ts';
import { notify } from '../database/notifications.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvent } from '../events/append.ts';
import { markEffective } from '../http/idempotency.ts';
import { deliveryColumns, toDelivery, toWebhook, webhookColumns } from './rows.ts';
import type { DeliveryColumns, WebhookColumns } from './rows.ts';

type Db = Kysely<Schema>;

export class PostgresWebhookStore implements WebhookStore {
  private readonly database: Database;
  private readonly changes: Changes;

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  create(accountId: string, webhook: NewWebhook, maxWebhooks: number, asked: ActorNote): Promise<WebhookRow | null> {
    return this.database.transaction(async (trx) => {
      // The lock serialises creates of one account, because they are counted.
      await sql`select from accounts where id = ${accountId} for no key update`.execute(trx);
      const { id, url, description, patterns, enabled, sealedSecret, secretLast4 } = webhook;
      const { numAffectedRows } = await sql`
        insert into webhooks (id, account_id, url, description, patterns, enabled, sealed_secret, secret_last4, position)
        select ${id}, ${accountId}, ${url}, ${description}, ${patterns}::text[], ${enabled}, ${sealedSecret}, ${secretLast4},
          (select coalesce(max(e.id), 0) from events e where e.account_id = ${accountId})
        where (select count(*) from webhooks where account_id = ${accountId}) < ${maxWebhooks}
      `.execute(trx);
      if (numAffectedRows !== 1n) return null;
      const row = await one(trx, accountId, id);
      await note(trx, accountId, id, { type: 'webhook.created', data: { url: originOf(url) } }, asked);
      return row;
    });
  }

  async list(accountId: string): Promise<readonly WebhookRow[]> {
    const { rows } = await this.database.repeatable((db) =>
      sql<WebhookColumns>`
        select ${webhookColumns} from webhooks w where w.account_id = ${accountId} order by w.created_at, w.id
      `.execute(db),
    );
    return rows.map(toWebhook);
  }

  get(accountId: string, id: string): Promise<WebhookRow | null> {
    return this.database.repeatable((db) => one(db, accountId, id));
  }

  change(accountId: string, id: string, change: WebhookChange, asked: ActorNote): Promise<WebhookRow | null> {
    return this.database.transaction(async (trx) => {
      const { numAffectedRows } = await sql`
        update webhooks w set updated_at = clock_timestamp() ${sql.join(settersOf(change), sql``)}
        where w.account_id = ${accountId} and w.id = ${id}
      `.execute(trx);
      if (numAffectedRows !== 1n) return null;
      const fields = Object.keys(change).map((name) => (name === 'patterns' ? 'events' : name));
      const row = await one(trx, accountId, id);
      await note(trx, accountId, id, { type: 'webhook.updated', data: { fields } }, asked);
      return row;
    });
  }

  remove(accountId: string, id: string, asked: ActorNote): Promise<boolean> {
    return this.database.transaction(async (trx) => {
      const { numAffectedRows } = await sql`
        delete from webhooks where account_id = ${accountId} and id = ${id}
      `.execute(trx);
      if (numAffectedRows !== 1n) return false;
      await note(trx, accountId, id, { type: 'webhook.removed', data: {} }, asked);
      return true;
    });
  }

  async deliveries(query: DeliveryQuery): Promise<readonly DeliveryRow[] | null> {
    const { accountId, webhookId, limit, before, state } = query;
    return this.database.repeatable(async (db) => {
      if ((await one(db, accountId, webhookId)) === null) return null;
      const { rows } = await sql<DeliveryColumns>`
        select ${deliveryColumns} from webhook_deliveries d
        where d.webhook_id = ${webhookId}
          ${before === undefined ? sql`` : sql`and d.id < ${String(before)}`}
          ${state === undefined ? sql`` : sql`and d.state = ${state}`}
        order by d.id desc limit ${limit}
      `.execute(db);
      return rows.map(toDelivery);
    });
  }

  delivery(accountId: string, webhookId: string, id: bigint): Promise<DeliveryRow | null> {
    return this.database.repeatable(async (db) => {
      const { rows } = await sql<DeliveryColumns>`
        select ${deliveryColumns} from webhook_deliveries d join webhooks w on w.id = d.webhook_id
        where w.account_id = ${accountId} and w.id = ${webhookId} and d.id = ${String(id)}
      `.execute(db);
      return rows[0] ? toDelivery(rows[0]) : null;
    });
  }

  test(accountId: string, id: string, type: string, body: string): Promise<DeliveryRow | null> {
    return this.deliver(
      accountId,
      sql`
        insert into webhook_deliveries as d (webhook_id, type, body, state, next_at)
        select w.id, ${type}, ${body}, 'pending', clock_timestamp() from webhooks w
        where w.account_id = ${accountId} and w.id = ${id}
        returning ${deliveryColumns}
      `,
    );
  }

  redeliver(accountId: string, webhookId: string, id: bigint): Promise<DeliveryRow | null> {
    return this.deliver(
      accountId,
      sql`
        update webhook_deliveries d
        set state = 'pending', next_at = clock_timestamp(), ended_at = null, first_attempt_at = null,
          attempts = case when d.state = 'pending' then d.attempts else 0 end
        from webhooks w
        where w.id = d.webhook_id and w.account_id = ${accountId} and w.id = ${webhookId} and d.id = ${String(id)}
        returning ${deliveryColumns}
      `,
    );
  }

  onAttempt(listener: (accountId: string | null) => void): () => void {
    return this.changes.on('webhook_attempted', listener);
  }

  private deliver(accountId: string, statement: RawBuilder<unknown>): Promise<DeliveryRow | null> {
    return this.database.transaction(async (trx) => {
      const { rows } = await (statement as RawBuilder<DeliveryColumns>).execute(trx);
      await notify(trx, accountId, 'webhook_changed');
      return rows[0] ? toDelivery(rows[0]) : null;
    });
  }
}

async function one(db: Db, accountId: string, id: string): Promise<WebhookRow | null> {
  const { rows } = await sql<WebhookColumns>`
    select ${webhookColumns} from webhooks w where w.account_id = ${accountId} and w.id = ${id}
  `.execute(db);
  return rows[0] ? toWebhook(rows[0]) : null;
}

function settersOf({ url, description, patterns, enabled, secret }: WebhookChange): RawBuilder<unknown>[] {
  return [
    ...(url === undefined ? [] : [sql`, url = ${url}`]),
    ...(description === undefined ? [] : [sql`, description = ${description}`]),
    ...(patterns === undefined ? [] : [sql`, patterns = ${patterns}::text[]`]),
    ...(enabled === undefined ? [] : [enabledSetter(enabled)]),
    ...(secret === undefined
      ? []
      : [
          sql`, sealed_previous = w.sealed_secret, previous_until = clock_timestamp() + ${secret.overlapMs} * interval '1 ms',
            sealed_secret = ${secret.sealed}, secret_last4 = ${secret.last4}`,
        ]),
  ];
}

/**
 * Returns the columns of a switch. A webhook that was off receives events from now on; earlier ones can be read as events.
 * One that is turned off loses its lease. A webhook that no process has held has none, and `least` of null and a time would
 * be the time.
 */
const enabledSetter = (enabled: boolean): RawBuilder<unknown> =>
  enabled
    ? sql`, enabled = true, disabled_reason = null, failing_since = null,
        position = case when w.enabled then w.position else
          (select coalesce(max(e.id), w.position) from events e where e.account_id = w.account_id) end`
    : sql`, enabled = false, disabled_reason = null,
        lease_until = case when w.lease_until is not null then least(w.lease_until, clock_timestamp()) end`;

/** Writes the event. Call it last in a transaction. */
async function note(
  trx: Transaction<Schema>,
  accountId: string,
  id: string,
  event: Happening,
  { by, idempotencyKey }: ActorNote,
): Promise<void> {
  if (idempotencyKey !== undefined) await markEffective(trx, accountId, idempotencyKey);
  await notify(trx, accountId, 'webhook_changed');
  await appendEvent(trx, { ...event, accountId, agentId: null, by, target: { kind: 'webhook', id } });
}

/** Returns the origin only, because a path may contain a token. */
const originOf = (url: string): string => new URL(url).origin;
