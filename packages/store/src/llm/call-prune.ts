/**
 * Deletes rows of calls and their contents, oldest first, in short steps. Usage stays: a row goes only after it is in the
 * sums, and its agent then has a sum of the quarter hour.
 *
 * No step waits for a content that somebody else deletes. The end of an agent and another prune lock contents in other
 * orders, and they would deadlock. A locked content will soon be gone, or is left to the next round.
 */
import type { CallBounds, ContentBounds } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database, Queries } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import { addFolded } from '../usage/usage-sums.ts';

/** Contents of one statement, a megabyte each at most. */
const contentsAtOnce = 100;
/** Contents of one statement when bytes are counted, so little is deleted beyond the bound. */
const givingWayAtOnce = 10;
/** Part of their bound at which an account's contents begin to give way, so new ones always find room. */
const givesWayAt = 7 / 8;
const rowsAtOnce = 2_000;

/**
 * Deletes contents over the bounds, oldest first. When bytes are over, the agent with the most loses first. The next round
 * continues after a kill.
 */
export async function forgetContents(db: Queries, { maxAgeMs, maxBytes }: ContentBounds): Promise<void> {
  const aged = sql`
    select call_id from llm_call_contents
    where ended_at < clock_timestamp() - ${maxAgeMs} * interval '1 millisecond' limit ${contentsAtOnce}
    for update skip locked
  `;
  while ((await deleteContents(db, aged)) === contentsAtOnce);
  const { rows } = await sql<{ accountId: string }>`
      select account_id from stored_bytes where kind = 'contents' group by 1 having sum(bytes) > ${maxBytes * givesWayAt}
    `.execute(db);
  for (const { accountId } of rows) while ((await giveWay(db, accountId, maxBytes * givesWayAt)) > 0);
}

/** Deletes contents of the agent with the most, so no agent pushes out those of others. */
function giveWay(db: Queries, accountId: string, maxBytes: number): Promise<number> {
  const ofAccount = sql`s.account_id = ${accountId} and s.kind = 'contents'`;
  return deleteContents(
    db,
    sql`
      select call_id from llm_call_contents
      where agent_id = (
        select s.agent_id from stored_bytes s
        where ${ofAccount} and (select sum(s.bytes) from stored_bytes s where ${ofAccount}) > ${maxBytes}
        order by s.bytes desc, s.agent_id limit 1
      )
      order by ended_at limit ${givingWayAtOnce} for update skip locked
    `,
  );
}

/** Deletes the contents whose ids `locked` selects and locks. */
async function deleteContents(db: Queries, locked: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await sql`
      with going as materialized (${locked})
      delete from llm_call_contents c using going where c.call_id = going.call_id
    `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/**
 * Deletes rows of calls over the bounds, in transactions of some rows each, with a look into an index for each agent, deleted
 * ones too.
 */
export async function pruneCalls(database: Database, bounds: CallBounds): Promise<void> {
  const agents = await database.repeatable((db) => db.selectFrom('agents').select('id').execute());
  for (const { id } of agents) {
    const last = await database.repeatable((db) => lastToGo(db, id, bounds));
    if (last !== null) while ((await foldSome(database, id, last)) === rowsAtOnce);
  }
}

/** Returns the start of the newest call over the bounds, or null. */
async function lastToGo(db: Queries, agentId: string, bounds: CallBounds): Promise<Date | null> {
  const { rows } = await sql<{ last: Date | null }>`
      select greatest(
        (
          select started_at from llm_calls where agent_id = ${agentId}
          order by started_at desc, id desc offset ${bounds.maxCalls} limit 1
        ),
        (
          select max(started_at) from llm_calls
          where agent_id = ${agentId} and started_at < clock_timestamp() - ${bounds.maxAgeMs} * interval '1 millisecond'
        )
      ) as last
    `.execute(db);
  return rows[0]!.last;
}

async function foldSome(database: Database, agentId: string, last: Date): Promise<number> {
  const oldest = sql`
    select id from llm_calls where agent_id = ${agentId} and started_at <= ${last} and summed
    order by started_at, id limit ${rowsAtOnce}
  `;
  const locked = sql`select call_id from llm_call_contents where call_id in (${oldest}) for update skip locked`;
  await database.repeatable((db) => deleteContents(db, locked));
  return database.transaction(async (trx) => {
    await sql`select pg_advisory_xact_lock(${advisoryLocks.usageSums})`.execute(trx);
    const { rows } = await sql<{ gone: number }>`
      with gone as materialized (
        select id from (${oldest}) calls where not exists (select from llm_call_contents where call_id = calls.id)
      ),
      folded as (${addFolded(sql`
        select e.* from usage_entries e join gone on gone.id = e.id where e.kind = 'call'
      `)}),
      calls as (delete from llm_calls where id in (select id from gone))
      select count(*)::int as gone from gone
    `.execute(trx);
    return rows[0]!.gone;
  });
}
