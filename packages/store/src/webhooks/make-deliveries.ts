import type { EventType } from '@lodge/domain';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { DueDelivery } from './attempts.ts';
import { isHeld } from './held.ts';
import type { HeldWebhook } from './held.ts';

export interface MadeDeliveries {
  readonly made: readonly DueDelivery[];
  /** Whether there are further events. */
  readonly more: boolean;
}

/**
 * Makes deliveries of the next events of these types, at most `limit`, while fewer than `maxPending` are pending, and moves the
 * position behind them. Null when the lease has ended. Ids of one account's events become visible in their order, so none
 * appears below the position later. A webhook is not told of itself. It is one statement, for speed: the position is read with
 * its lock, so events that the statement does not see yet are above it.
 */
export async function makeDeliveries(
  db: Queries,
  held: HeldWebhook,
  types: readonly EventType[],
  { limit, maxPending }: { readonly limit: number; readonly maxPending: number },
): Promise<MadeDeliveries | null> {
  const { id, accountId } = held;
  const { rows } = await sql<DueDelivery & { readonly more: boolean }>`
    with room as (
      select ${maxPending} - count(*) as places from webhook_deliveries where webhook_id = ${id} and state = 'pending'
    ), ends as (
      select w.position as low, coalesce((select max(e.id) from events e where e.account_id = ${accountId}), 0) as high
      from webhooks w where ${isHeld(held)} for no key update
    ), found as (
      select e.id, e.type, e.agent_id, e.created_at,
        case when e.target_kind is null then e.data
          else e.data || jsonb_build_object(e.target_kind || '_id', e.target_id) end as data
      from events e, ends
      where e.account_id = ${accountId} and e.id > ends.low and e.id <= ends.high and e.type = any(${[...types]}::text[])
        and (e.target_kind is distinct from 'webhook' or e.target_id <> ${id})
      order by e.id limit least(${limit}, greatest(0, (select places from room)))
    ), counted as (
      select count(*)::int as n, max(id) as last from found
    ), made as (
      insert into webhook_deliveries (webhook_id, event_id, type, agent_id, body, state, next_at)
      select ${id}, f.id, f.type, f.agent_id,
        case when octet_length(whole.body) <= ${maxBodyBytes} then whole.body else ${bodyOf(sql`'{"truncated":true}'::json`)} end,
        'pending', clock_timestamp()
      from found f cross join lateral (select ${bodyOf(sql`f.data`)} as body) whole order by f.id
      on conflict (webhook_id, event_id) where event_id is not null do nothing
      returning id, type, agent_id, body, attempts, next_at
    ), moved as (
      update webhooks w
      set position = case
        when counted.n >= least(${limit}, greatest(0, (select places from room))) then coalesce(counted.last, ends.low)
        else greatest(ends.low, ends.high)
      end
      from counted, ends where w.id = ${id}
      returning w.position, ends.high
    )
    select moved.position < moved.high as more, made.* from moved left join made on true order by made.id
  `.execute(db);
  const [first] = rows;
  return first === undefined ? null : { made: rows.filter((row) => row.id !== null), more: first.more };
}

const maxBodyBytes = 65_536;

/** The event in the API's form, from a row `f`. */
const bodyOf = (data: RawBuilder<unknown>): RawBuilder<string> => sql<string>`
  json_build_object(
    'object', 'event', 'id', f.id::text, 'type', f.type,
    'created_at', to_char(f.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'agent_id', f.agent_id, 'data', ${data}
  )::text
`;
