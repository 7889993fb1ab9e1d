/**
 * Files of messages whose bytes are not on the host yet. A file is returned with a time before which it is not returned
 * again.
 */
import type { FileToFetch, LeaseRef, RelayStore } from '@lodge/ports';
import { sql } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { isHeld, leaseRows, lockHeld } from './leases.ts';
import { notify } from '../database/notifications.ts';
import { storable } from './text.ts';
import { inMs } from '../work/leases.ts';

/** Longer than a fetch may take, in ms. A relay that dies delays its files this long. */
const againAfterMs = 120_000;

export async function filesToFetch(
  trx: Transaction,
  leases: readonly LeaseRef[],
  limit: number,
  { perAgent, underWay }: NonNullable<Parameters<RelayStore['filesToFetch']>[2]> = { perAgent: limit, underWay: [] },
): Promise<readonly FileToFetch[]> {
  if (leases.length === 0) return [];
  const { rows } = await sql<FileToFetch>`
    with busy as materialized (
      select agent_id, count(*) as n from unnest(${underWay}::text[]) b (agent_id) group by agent_id
    ), firsts as materialized (
      select f.id, f.due_at, c.lease_number as number,
        row_number() over (partition by c.agent_id order by f.due_at, f.id)
          + coalesce((select n from busy b where b.agent_id = c.agent_id), 0) as of_agent
      from channels c
      join ${leaseRows(leases)} on ${isHeld}
      cross join lateral (
        select id, due_at from channel_files f
        where f.agent_id = c.agent_id and f.channel = c.channel and ${isDue}
        order by f.due_at limit ${perAgent}
      ) f
    ), due as (
      select f.id, n.number from firsts n join channel_files f on f.id = n.id
      where n.of_agent <= ${perAgent} and ${isDue}
      order by n.of_agent, n.due_at limit ${limit} for no key update of f skip locked
    )
    update channel_files f set attempts = f.attempts + 1,
      due_at = ${inMs(againAfterMs)}
    from due where f.id = due.id
    returning f.id, f.agent_id, f.channel, due.number, f.ref, f.attempts - 1 as attempts
  `.execute(trx);
  return rows;
}

/** A condition on a row `f` of files. */
const isDue = sql`f.file_key is null and f.reason is null and f.due_at <= clock_timestamp()`;

/** Records the result of a fetch. Throws `LeaseLost`. */
export async function fetched(
  trx: Transaction,
  lease: LeaseRef,
  id: string,
  result: { readonly key: string; readonly bytes: number } | { readonly reason: string },
): Promise<void> {
  const set =
    'key' in result
      ? { fileKey: result.key, bytes: result.bytes }
      : { reason: storable(result.reason, 200) || 'it could not be had' };
  await lockHeld(trx, lease);
  await trx
    .updateTable('channelFiles')
    .set(set)
    .where('id', '=', id)
    .where('agentId', '=', lease.agentId)
    .where('channel', '=', lease.channel)
    .where('fileKey', 'is', null)
    .where('reason', 'is', null)
    .execute();
  await notify(trx, lease.agentId, 'channel_work');
}

/**
 * Returns the keys of files that are no longer needed. A received file is needed until its message had its turn, also for a
 * retry of a failed one. An outgoing file is needed until it is sent; after a failure only when a message can be retried.
 */
export async function unneededFiles(db: Queries, keys: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ key: string }>`
    select key from unnest(${keys}::text[]) k (key)
    where not exists (
      select from channel_files f join channel_messages m on m.id = f.message_id
      where f.file_key = k.key and m.answer_id is null and m.state in ('received', 'failed', 'unknown')
    ) and not exists (
      select from channel_parts p where p.file_key = k.key and (
        p.state in ('waiting', 'sending')
        or (p.state <> 'sent' and exists (select from channel_messages m where m.answer_id = p.answer_id))
      )
    )
  `.execute(db);
  return rows.map(({ key }) => key);
}
