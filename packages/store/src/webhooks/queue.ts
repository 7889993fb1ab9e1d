/**
 * `WebhookQueue` in Postgres.
 *
 * A lease ends only by the database's clock, and its number rises with each holder. Every write names the number. Deliveries
 * of events are made in the transaction that moves the webhook's position past them, so neither exists without the other.
 */
import { typesOf } from '@lodge/domain';
import type { DeliveryResult, DueDelivery, HeldWebhook, WebhookQueue } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Selectable, SqlBool, Transaction } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Changes } from '../database/notifications.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvent } from '../events/append.ts';
import { makeDeliveries, toDue } from './make-deliveries.ts';
import type { DueColumns } from './make-deliveries.ts';
import { settleDeliveries } from './settle.ts';
import type { WebhooksTable } from './tables.ts';
import { notify } from '../database/notifications.ts';
import { inMs, isHeldUnder, isUnheld, released, takenBy } from '../work/leases.ts';

type Held = Pick<
  Selectable<WebhooksTable>,
  | 'id'
  | 'account_id'
  | 'url'
  | 'patterns'
  | 'sealed_secret'
  | 'sealed_previous'
  | 'previous_until'
  | 'failing_since'
  | 'lease_number'
>;

const heldColumns = sql`
  w.id, w.account_id, w.url, w.patterns, w.sealed_secret, w.sealed_previous, w.previous_until, w.failing_since, w.lease_number
`;
const isHeld = ({ id, lease }: Pick<HeldWebhook, 'id' | 'lease'>): RawBuilder<SqlBool> => sql<SqlBool>`
  w.id = ${id} and ${isHeldUnder('w', lease)} and w.enabled
`;
const step = 1_000;

export class PostgresWebhookQueue implements WebhookQueue {
  private readonly database: Database;
  private readonly changes: Changes;

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  onWork(listener: (accountId: string | null) => void): () => void {
    return this.changes.on('webhook_changed', listener);
  }

  async claim({ holder, limit, leaseMs }: Parameters<WebhookQueue['claim']>[0]): Promise<readonly HeldWebhook[]> {
    const { rows } = await this.database.repeatable((db) =>
      sql<Held>`
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
        update webhooks w set ${takenBy('w', holder, leaseMs)}
        from free where w.id = free.id
        returning ${heldColumns}
      `.execute(db),
    );
    return rows.map(toHeld);
  }

  async renew(held: readonly HeldWebhook[], leaseMs: number): Promise<readonly HeldWebhook[]> {
    if (held.length === 0) return [];
    const { rows } = await this.database.repeatable((db) =>
      sql<Held>`
        update webhooks w set lease_until = ${inMs(leaseMs)} from ${leaseRows(held)}
        where w.id = l.id and ${isHeldUnder('w', sql.ref('l.number'))} and w.enabled
        returning ${heldColumns}
      `.execute(db),
    );
    return rows.map(toHeld);
  }

  async release(held: readonly HeldWebhook[]): Promise<void> {
    if (held.length === 0) return;
    await this.database.repeatable((db) =>
      sql`
        update webhooks w set ${released('w')} from ${leaseRows(held)}
        where w.id = l.id and w.lease_number = l.number
      `.execute(db),
    );
  }

  takeEvents(held: HeldWebhook, limit: number, maxPending: number): ReturnType<WebhookQueue['takeEvents']> {
    return this.database.transaction(async (trx) => {
      if (!(await lock(trx, held))) return null;
      return makeDeliveries(trx, held, limit, maxPending);
    });
  }

  async pending({ id }: HeldWebhook, limit: number, after: bigint | null): Promise<readonly DueDelivery[]> {
    const { rows } = await this.database.repeatable((db) =>
      sql<DueColumns>`
        select d.id, d.type, d.agent_id, d.body, d.attempts, d.next_at from webhook_deliveries d
        where d.webhook_id = ${id} and d.state = 'pending' ${after === null ? sql`` : sql`and d.id > ${String(after)}`}
        order by d.id limit ${limit}
      `.execute(db),
    );
    return rows.map(toDue);
  }

  settle(held: HeldWebhook, results: readonly DeliveryResult[]): Promise<boolean> {
    return this.database.repeatable((db) => settleDeliveries(db, held, results));
  }

  disable(held: HeldWebhook, reason: string): Promise<boolean> {
    return this.database.transaction(async (trx) => {
      if (!(await lock(trx, held))) return false;
      await sql`
        update webhooks set enabled = false, disabled_reason = ${reason}, lease_until = clock_timestamp(),
          updated_at = clock_timestamp() where id = ${held.id}
      `.execute(trx);
      await notify(trx, held.accountId, 'webhook_changed');
      const event = { type: 'webhook.disabled', data: { webhook_id: held.id, reason } } as const;
      const target = { kind: 'webhook', id: held.id };
      await appendEvent(trx, { ...event, accountId: held.accountId, agentId: null, by: null, target });
      return true;
    });
  }

  async prune({ maxAgeMs, keep }: Parameters<WebhookQueue['prune']>[0]): Promise<void> {
    const statements = [
      sql`
        delete from webhook_deliveries where id in (
          select id from webhook_deliveries
          where ended_at < clock_timestamp() - ${maxAgeMs} * interval '1 millisecond' order by ended_at limit ${step}
        )
      `,
      sql`
        delete from webhook_deliveries where id in (
          select d.id from webhooks w cross join lateral (
            select id from webhook_deliveries where webhook_id = w.id and state <> 'pending' order by id desc offset ${keep}
          ) d limit ${step}
        )
      `,
    ];
    for (const statement of statements) {
      for (let pruned = step; pruned === step;) {
        const { numAffectedRows } = await this.database.repeatable((db) => statement.execute(db));
        pruned = Number(numAffectedRows ?? 0n);
      }
    }
  }
}

/** Locks the lease and the webhook until the transaction ends. */
async function lock(trx: Transaction<Schema>, held: HeldWebhook): Promise<boolean> {
  const { rows } = await sql`select from webhooks w where ${isHeld(held)} for no key update`.execute(trx);
  return rows.length === 1;
}

const leaseRows = (held: readonly HeldWebhook[]): RawBuilder<unknown> => sql`
  unnest(${held.map(({ id }) => id)}::text[], ${held.map(({ lease }) => lease)}::integer[]) l (id, number)
`;

const toHeld = (row: Held): HeldWebhook => ({
  id: row.id,
  accountId: row.account_id,
  url: row.url,
  types: typesOf(row.patterns),
  sealedSecret: row.sealed_secret,
  sealedPrevious: row.sealed_previous,
  previousUntil: row.previous_until,
  failingSince: row.failing_since,
  lease: row.lease_number,
});
