/**
 * Deletes events over the bounds, oldest first. There is one bound for each group of causes: people, API keys, the operator,
 * and Lodge itself. So no group pushes out another. Within Lodge's group one agent has a tenth. Among API keys those with
 * the most events give way, so a leaked key pushes out its own events.
 */
import type { EventBounds } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Queries } from '../database/database.ts';

/** Events deleted in one statement, which takes some tens of milliseconds. Nobody waits for their rows. */
const step = 2_000;
const causes = [
  ...['account', 'api_key', 'operator'].map((actor) => sql<boolean>`actor_kind = ${actor}`),
  sql<boolean>`actor_kind is null`,
];
const partOfAgent = 0.1;

/** Events of an account up to one of them. */
interface Over {
  readonly of: RawBuilder<boolean>;
  readonly last: string;
}

/** Checks an index for each bound, then deletes from the oldest on. The next run continues after a kill. */
export async function pruneEvents(db: Queries, { maxEvents, maxAgeMs }: EventBounds): Promise<void> {
  const accounts = await db.selectFrom('accounts').select('id').execute();
  for (const { id } of accounts) {
    const prune = async (over: Over | null): Promise<void> => {
      if (over === null) return;
      while ((await deleteSome(db, id, over)) === step);
    };
    await prune(await lastBefore(db, id, maxAgeMs));
    // Agents first: one that floods gives way before all agents together.
    for (const over of await lastOfAgents(db, id, Math.ceil(maxEvents * partOfAgent))) await prune(over);
    for (const of of causes) {
      const over = await lastBeyond(db, id, of, maxEvents);
      if (over !== null) for (const each of await lastOfActors(db, id, over, maxEvents)) await prune(each);
    }
  }
}

/**
 * Returns the events to delete of the actors with the most: as many as exceed the bound. No actor keeps more than another
 * one that must give way.
 */
async function lastOfActors(db: Queries, accountId: string, { of }: Over, maxEvents: number): Promise<readonly Over[]> {
  const { rows } = await sql<{ actorId: string | null; events: number }>`
      select actor_id, count(*)::int as events from events where account_id = ${accountId} and ${of} group by 1
    `.execute(db);
  const kept = evenPart(
    rows.map(({ events }) => events),
    maxEvents,
  );
  const crowding = rows.filter(({ events }) => events > kept);
  const last = crowding.map(({ actorId }) =>
    lastBeyond(db, accountId, sql<boolean>`${of} and actor_id is not distinct from ${actorId}`, kept),
  );
  return (await Promise.all(last)).filter((each) => each !== null);
}

/** Returns the most that each may have so that all together have at most `max`. */
function evenPart(amounts: readonly number[], max: number): number {
  let left = max;
  for (const [n, amount] of amounts.toSorted((a, b) => a - b).entries()) {
    const part = Math.floor(left / (amounts.length - n));
    if (amount > part) return part;
    left -= amount;
  }
  return max;
}

/** Returns the events to delete of each agent that no person, key or operator caused. */
async function lastOfAgents(db: Queries, accountId: string, maxEvents: number): Promise<readonly Over[]> {
  const { rows } = await sql<{ agentId: string; last: string }>`
      select a.id as agent_id, crowded.id as last
      from agents a cross join lateral (
        select e.id from events e where e.account_id = ${accountId} and e.agent_id = a.id and e.actor_kind is null
        order by e.id desc offset ${maxEvents} limit 1
      ) crowded
      where a.account_id = ${accountId}
    `.execute(db);
  return rows.map(({ agentId, last }) => ({ of: sql`agent_id = ${agentId} and actor_kind is null`, last }));
}

function lastBeyond(db: Queries, accountId: string, of: RawBuilder<boolean>, maxEvents: number): Promise<Over | null> {
  return lastOf(
    db,
    of,
    sql`
    select id from events where account_id = ${accountId} and ${of} order by id desc offset ${maxEvents} limit 1
  `,
  );
}

function lastBefore(db: Queries, accountId: string, maxAgeMs: number): Promise<Over | null> {
  return lastOf(
    db,
    sql`true`,
    sql`
    select id from events
    where account_id = ${accountId} and created_at < clock_timestamp() - ${maxAgeMs} * interval '1 millisecond'
    order by created_at desc, id desc limit 1
  `,
  );
}

async function lastOf(db: Queries, of: RawBuilder<boolean>, query: RawBuilder<unknown>): Promise<Over | null> {
  const { rows } = await (query as RawBuilder<{ id: string }>).execute(db);
  return rows[0] === undefined ? null : { of, last: rows[0].id };
}

async function deleteSome(db: Queries, accountId: string, { of, last }: Over): Promise<number> {
  const { numAffectedRows } = await sql`
      delete from events where account_id = ${accountId} and id in (
        select id from events where account_id = ${accountId} and ${of} and id <= ${last}::bigint order by id limit ${step}
      )
    `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
