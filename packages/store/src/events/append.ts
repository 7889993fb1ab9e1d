/**
 * Writes events, in the transaction of the change they tell of.
 *
 * Call it last. Writers of one account's events wait for one another until they commit, so ids rise in the order in which
 * they become visible, and a reader who pages forward misses none. Nothing but the insert and the commit happens under that
 * lock: the same statement writes the line of the agent's log before, which has an order of its own.
 */
import { levelOf, sentenceOf } from '@lodge/domain';
import type { EndedOperation, NewEvent } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { advisoryLockClasses } from '../database/locks.ts';
import type { Schema } from '../database/schema.ts';
import { levelCodes, logLines } from '../logs/log-rows.ts';

export async function appendEvent(
  trx: Kysely<Schema>,
  event: NewEvent,
  operation: EndedOperation | null = null,
): Promise<void> {
  const { accountId, agentId, by, target } = event;
  const level = levelOf(event);
  const message = agentId === null ? null : sentenceOf(event);
  const line = message === null ? null : logLines(agentId!, [{ level, source: 'system', message }]);
  await sql`
    with ${line === null ? sql`` : sql`${line},`} turn as materialized (
      select pg_advisory_xact_lock(${advisoryLockClasses.accountEvents}, hashtext(${accountId}))
      ${line === null ? sql`` : sql`from (select count(*) from lines offset 0) written_before`}
    ), written as (
      insert into events (
        account_id, agent_id, type, level, data, actor_kind, actor_id, address, request_id, target_kind, target_id, operation,
        created_at
      )
      select ${accountId}, ${agentId}, ${event.type}, ${levelCodes[level]}::smallint, ${JSON.stringify(event.data)}::jsonb,
        ${by?.actor.kind ?? null}, ${by?.actor.id ?? null}, ${by?.address ?? null}, ${by?.requestId ?? null},
        ${target?.kind ?? null}, ${target?.id ?? null}, ${operation && JSON.stringify(operation)}::jsonb, clock_timestamp()
      from turn
    )
    select pg_notify('event_appended', ${accountId}) ${line === null ? sql`` : sql`, pg_notify('agent_log_changed', ${agentId})`}
  `.execute(trx);
}
