import type { EventData } from '@lodge/domain';
import type { EventQuery, EventRow } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { Events } from '../database/tables.ts';
import { levelOf } from '../logs/append.ts';

/** Beyond any id. */
const last = 2n ** 63n - 1n;

/** Events beyond the page that are looked at, because some are not wanted. */
const spare = 20;

type Row = Selectable<Events>;

/**
 * Reads a page. Its cost does not rise with the account's events. Nearly all are wanted when many types are, so the next ones
 * are looked at first, and mostly they are the page.
 */
export async function eventPage(db: Queries, query: EventQuery): Promise<readonly EventRow[]> {
  return (await rowsOf(db, query)).map(toEventRow);
}

async function rowsOf(db: Queries, query: EventQuery): Promise<readonly Row[]> {
  const { agentId, types, limit } = query;
  if (agentId !== undefined || types.length === 1) return eventsOf(db, query);
  const looked = await nextEvents(db, query, limit + spare);
  const wanted = looked.filter(({ type }) => types.some((each) => each === type));
  const isPage = looked.length < limit + spare || wanted.length >= limit;
  return isPage ? wanted.slice(0, limit) : eventsOf(db, query);
}

export const toEventRow = ({
  actorKind,
  actorId,
  address,
  requestId,
  targetKind,
  targetId,
  ...row
}: Row): EventRow => ({
  id: BigInt(row.id),
  accountId: row.accountId,
  agentId: row.agentId,
  type: row.type,
  level: levelOf[row.level] as EventRow['level'],
  data: row.data as EventData,
  by: actorKind === null ? null : { actor: { kind: actorKind, id: actorId }, address, requestId },
  target: targetId === null ? null : { kind: targetKind!, id: targetId },
  at: row.createdAt,
});

/** Reads the next events of whatever type. */
async function nextEvents(db: Queries, query: EventQuery, limit: number): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
      with ${bounds(query)}
      select next.* from bounds, lateral (
        select * from events where account_id = ${query.accountId} and id >= bounds.first and id <= bounds.last
        order by id ${sql.raw(query.direction)}
        limit ${limit}
      ) next
      order by id ${sql.raw(query.direction)}
    `.execute(db);
  return rows;
}

/** An index yields the next events of each wanted type in order. */
async function eventsOf(db: Queries, query: EventQuery): Promise<readonly Row[]> {
  const { accountId, agentId, types, direction, limit } = query;
  const order = sql.raw(direction);
  const of = agentId === undefined ? sql`type = t` : sql`agent_id = ${agentId} and type = any(${types}::text[])`;
  // Few events are of one agent, so they are read in order, whatever their type.
  const wanted = agentId === undefined ? sql`${types}::text[]` : sql`array['']`;
  const { rows } = await sql<Row>`
      with ${bounds(query)}
      select found.* from unnest(${wanted}) t, bounds, lateral (
        select * from events
        where account_id = ${accountId} and ${of} and id >= bounds.first and id <= bounds.last
        order by id ${order}
        limit ${limit}
      ) found
      order by id ${order}
      limit ${limit}
    `.execute(db);
  return rows;
}

/** Returns the first and the last id to read. A range of times is a range of ids. */
function bounds({ accountId, from, direction, since, until }: EventQuery): RawBuilder<unknown> {
  const first =
    since === undefined
      ? sql`0`
      : sql`coalesce((
          select id from events where account_id = ${accountId} and created_at >= ${since} order by created_at, id limit 1
        ), ${last})`;
  const end =
    until === undefined
      ? sql`${last}::bigint`
      : sql`coalesce((
          select id from events where account_id = ${accountId} and created_at < ${until}
          order by created_at desc, id desc limit 1
        ), -1)`;
  const [after, before] = direction === 'asc' ? [from, undefined] : [undefined, from];
  return sql`
    bounds as materialized (
      select greatest(${first}, ${after ?? null}::bigint + 1) as first, least(${end}, ${before ?? null}::bigint - 1) as last
    )
  `;
}
