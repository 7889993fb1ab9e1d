import type { ClaimOptions, ClaimedHookMessage } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { busyIn, chosenOf, claimedColumns, isDue } from '../claimed/claims.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { Schema } from '../database/schema.ts';

interface Taken {
  readonly id: string;
  readonly claim: number;
  readonly attempts: number;
  readonly may_have_acted: boolean;
  readonly event: string | null;
  readonly text: string;
  readonly is_cut: boolean;
  readonly received_at: Date;
  readonly hook_id: string;
  readonly account_id: string;
  readonly agent_id: string;
  readonly name: string;
  readonly conversation: string | null;
  readonly is_signed: boolean;
}

/** Claims messages. It looks at the first message of each agent with hooks, because thousands may wait behind it. */
export async function claimMessages(
  trx: Transaction<Schema>,
  options: ClaimOptions,
): Promise<readonly ClaimedHookMessage[]> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.hookClaims})`.execute(trx);
  const { rows } = await sql<Taken>`
    with ${busyIn('hook_messages', options)}, ready as (
      select r.*
      from (select distinct agent_id from hooks) h
      join agents a on a.id = h.agent_id and a.desired = 'running' and (a.host is null or a.host = ${options.host})
      cross join lateral (
        select r.id, r.account_id, r.due_at, r.seq from hook_messages r
        where r.agent_id = h.agent_id and r.status is null order by r.due_at, r.seq limit 1
      ) r
      where ${isDue} and not exists (select from busy b where b.agent_id = h.agent_id)
    ), ${chosenOf(options)}, taken as (
      update hook_messages r set ${claimedColumns(options)}
      from chosen where r.id = chosen.id
      returning r.id, r.claim, r.attempts - 1 as attempts, r.may_have_acted, r.event, r.text, r.is_cut, r.received_at, r.hook_id
    )
    select taken.*, h.account_id, h.agent_id, h.name, h.conversation, h.signature is not null as is_signed
    from taken join chosen using (id) join hooks h on h.id = taken.hook_id
    order by chosen.of_account, chosen.due_at, chosen.seq
  `.execute(trx);
  return rows.map(toClaimed);
}

const toClaimed = (row: Taken): ClaimedHookMessage => ({
  id: row.id,
  claim: row.claim,
  attempts: row.attempts,
  mayHaveActed: row.may_have_acted,
  event: row.event,
  text: row.text,
  isCut: row.is_cut,
  receivedAt: row.received_at,
  hook: {
    id: row.hook_id,
    accountId: row.account_id,
    agentId: row.agent_id,
    name: row.name,
    conversation: row.conversation,
    isSigned: row.is_signed,
  },
});
