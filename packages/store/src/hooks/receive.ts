/** Keeps what a third party sent: once, and within the bound on what waits. */
import type { HookStore, NewHookMessage } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { storable } from '../channels/text.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvent } from '../events/append.ts';
import { tellWork } from './notify.ts';

interface Locked {
  readonly agent_id: string;
  readonly account_id: string;
  readonly name: string;
}

/** Those of a hook come one after another, so that they are counted right. */
export async function receiveMessage(
  trx: Transaction<Schema>,
  hookId: string,
  { deliveryId, event, text, isCut }: NewHookMessage,
  mostWaiting: number,
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
  const { rows } = await sql<{ id: string }>`
    insert into hook_messages (hook_id, agent_id, account_id, delivery_id, event, text, is_cut)
    select ${hookId}, ${hook.agent_id}, ${hook.account_id}, ${deliveryId}, ${event === null ? null : storable(event)},
      ${storable(text)}, ${isCut}
    where (
      select count(*) from (
        select from hook_messages where hook_id = ${hookId} and status is null limit ${mostWaiting}
      ) waiting
    ) < ${mostWaiting}::int
    returning id
  `.execute(trx);
  const [made] = rows;
  if (made === undefined) return 'full';
  await tellWork(trx, hook.agent_id);
  const data = { hook_id: hookId, name: hook.name, message_id: made.id };
  const { account_id: accountId, agent_id: agentId } = hook;
  await appendEvent(trx, { type: 'hook.received', data, accountId, agentId, by: null });
  return { id: made.id, isNew: true };
}
