/** Stores a third party's message once, within the bounds on waiting messages. */
import type { HookStore, HookWaitBounds, NewHookMessage } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { storable } from '../channels/text.ts';
import { advisoryLockClasses } from '../database/locks.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvent } from '../events/append.ts';
import { notify } from '../database/notifications.ts';
import { putWork } from '../work/work.ts';

interface Locked {
  readonly agent_id: string;
  readonly account_id: string;
  readonly name: string;
}

/** Stores a message. The lock serialises the messages of a hook, so they are counted correctly. */
export async function receiveMessage(
  trx: Transaction<Schema>,
  hookId: string,
  { deliveryId, event, isCut, ...message }: NewHookMessage,
  bounds: HookWaitBounds,
): ReturnType<HookStore['receive']> {
  const { rows: hooks } = await sql<Locked>`
    select h.agent_id, h.account_id, h.name from hooks h
    where h.id = ${hookId} and exists (select from agents a where a.id = h.agent_id and a.desired = 'running')
    for no key update of h
  `.execute(trx);
  const [hook] = hooks;
  if (hook === undefined) return 'gone';
  if (deliveryId !== null) {
    const known = await sql<{ id: string }>`
      select id from hook_messages where hook_id = ${hookId} and delivery_id = ${deliveryId}
    `.execute(trx);
    if (known.rows[0] !== undefined) return { id: known.rows[0].id, isNew: false };
  }
  const text = storable(message.text);
  const full = await whatIsFull(trx, { hookId, accountId: hook.account_id, bytes: Buffer.byteLength(text) }, bounds);
  if (full !== null) return full;
  const { rows } = await sql<{ id: string }>`
    with made as (
      insert into hook_messages (hook_id, agent_id, account_id, delivery_id, event, text, is_cut)
      values (${hookId}, ${hook.agent_id}, ${hook.account_id}, ${deliveryId}, ${event === null ? null : storable(event)},
        ${text}, ${isCut})
      returning id, seq, account_id, agent_id, received_at as due_at
    )
    ${putWork('message')} returning id
  `.execute(trx);
  const made = rows[0]!;
  await notify(trx, hook.agent_id, 'hook_work');
  const data = { hook_id: hookId, name: hook.name, message_id: made.id };
  const { account_id: accountId, agent_id: agentId } = hook;
  await appendEvent(trx, { type: 'hook.received', data, accountId, agentId, by: null });
  return { id: made.id, isNew: true };
}

interface Arriving {
  readonly hookId: string;
  readonly accountId: string;
  readonly bytes: number;
}

/**
 * Returns the exceeded bound. Messages of an account wait for each other until they are committed, so they are counted
 * correctly.
 */
async function whatIsFull(
  trx: Transaction<Schema>,
  { hookId, accountId, bytes }: Arriving,
  { ofHook, ofAccount, bytesOfAccount }: HookWaitBounds,
): Promise<'full' | 'account_full' | null> {
  await sql`select pg_advisory_xact_lock(${advisoryLockClasses.hookTexts}, hashtext(${accountId}))`.execute(trx);
  const { rows } = await sql<{ readonly of_hook: number; readonly of_account: number; readonly bytes: number }>`
    select count(*) filter (where hook_id = ${hookId})::int as of_hook, count(*)::int as of_account,
      coalesce(sum(octet_length(text)), 0)::float8 as bytes
    from (
      select hook_id, text from hook_messages where account_id = ${accountId} and status is null limit ${ofAccount}
    ) waiting
  `.execute(trx);
  const waiting = rows[0]!;
  if (waiting.of_hook >= ofHook) return 'full';
  return waiting.of_account >= ofAccount || waiting.bytes + bytes > bytesOfAccount ? 'account_full' : null;
}
