/**
 * Writes events, in the transaction of their change.
 *
 * Call it last. Writers of one account's events wait for each other until they commit. Ids therefore rise in the order in
 * which they become visible, and a reader who pages forward misses none. Only the insert and the commit happen under that
 * lock: the same statement writes the line of the agent's log before, which has an order of its own.
 */
import { agentIdPattern, levelOf, sentenceOf } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import type { By, EndedOperation, NewEvent } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import { advisoryLockClasses } from '../database/locks.ts';
import { levelCodes, logLines } from '../logs/append.ts';

export async function appendEvent(
  trx: Transaction,
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

/**
 * Writes an event that happened to an agent and changes no record. Without `by` it happened by itself. A deleted agent gets no
 * more events.
 */
export async function appendAgentEvent(
  trx: Transaction,
  agentId: string,
  event: Happening,
  by: By | null = null,
): Promise<void> {
  if (!agentIdPattern.test(agentId)) return;
  const agent = await trx
    .selectFrom('agents')
    .select('accountId')
    .where('id', '=', agentId)
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
  if (agent) await appendEvent(trx, { ...event, ...agent, agentId, by });
}

/**
 * Writes several events of one account in one transaction. Those with a line in the agent's log come first, so the holder of
 * the account's lock waits for no log.
 */
export async function appendEvents(trx: Transaction, events: readonly NewEvent[]): Promise<void> {
  const hasLine = (event: NewEvent): boolean => event.agentId !== null && sentenceOf(event) !== null;
  for (const event of events.filter(hasLine)) await appendEvent(trx, event);
  const quiet = events.filter((event) => !hasLine(event));
  const [first] = quiet;
  if (first === undefined) return;
  const rows = quiet.map((event, n) => ({
    n,
    agent_id: event.agentId,
    type: event.type,
    level: levelCodes[levelOf(event)],
    data: event.data,
    actor_kind: event.by?.actor.kind ?? null,
    actor_id: event.by?.actor.id ?? null,
    address: event.by?.address ?? null,
    request_id: event.by?.requestId ?? null,
    target_kind: event.target?.kind ?? null,
    target_id: event.target?.id ?? null,
  }));
  await sql`
    with turn as materialized (
      select pg_advisory_xact_lock(${advisoryLockClasses.accountEvents}, hashtext(${first.accountId}))
    ), written as (
      insert into events (
        account_id, agent_id, type, level, data, actor_kind, actor_id, address, request_id, target_kind, target_id, created_at
      )
      select ${first.accountId}, e.agent_id, e.type, e.level, e.data, e.actor_kind, e.actor_id, e.address, e.request_id,
        e.target_kind, e.target_id, clock_timestamp()
      from turn, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) e (
        n integer, agent_id text, type text, level smallint, data jsonb, actor_kind text, actor_id text, address text,
        request_id text, target_kind text, target_id text
      )
      order by e.n
    )
    select pg_notify('event_appended', ${first.accountId})
  `.execute(trx);
}
