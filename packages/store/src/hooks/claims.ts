/**
 * Claims of messages. A claim ends by the database's clock, and its number fences what it may write. A claim that reaches further
 * than any can is one from before the clock went back: nobody holds it.
 */
import type { ClaimOptions, ClaimedHookMessage, TurnClaim } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, SqlBool, Transaction } from 'kysely';
import { advisoryLocks } from '../database/locks.ts';
import { inMs } from '../channels/leases.ts';
import type { Schema } from '../database/schema.ts';

/** Nothing is put off by more; what is further away was put off before the clock went back. */
const furthestMs = 3_600_000;

export const claimRows = (claims: readonly TurnClaim[]): RawBuilder<unknown> => sql`
  unnest(${claims.map(({ id }) => id)}::text[], ${claims.map(({ claim }) => claim)}::integer[]) k (id, claim)
`;

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

/**
 * Looks at the first message of each agent that has hooks: thousands may wait behind it. The account's n-th message waits behind the
 * n-th of all others, however long it has waited.
 */
export async function claimMessages(
  trx: Transaction<Schema>,
  { holder, host, limit, leaseMs, except }: ClaimOptions,
): Promise<readonly ClaimedHookMessage[]> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.hookClaims})`.execute(trx);
  const held: RawBuilder<SqlBool> = sql`
    (r.claim_until > clock_timestamp() and r.claim_until < clock_timestamp() + 2 * ${leaseMs} * interval '1 millisecond'
      or r.id = any(${[...except]}::text[]))
  `;
  const { rows } = await sql<Taken>`
    with busy as materialized (
      select agent_id, account_id from hook_messages r where r.status is null and r.claim_until is not null and ${held}
    ), ready as (
      select r.*
      from (select distinct agent_id from hooks) h
      join agents a on a.id = h.agent_id and a.desired = 'running' and (a.host is null or a.host = ${host})
      cross join lateral (
        select r.id, r.account_id, r.due_at, r.seq from hook_messages r
        where r.agent_id = h.agent_id and r.status is null order by r.due_at, r.seq limit 1
      ) r
      where not exists (select from busy b where b.agent_id = h.agent_id)
        and (r.due_at <= clock_timestamp() or r.due_at > clock_timestamp() + ${furthestMs} * interval '1 millisecond')
    ), ranked as (
      select id, due_at, seq, row_number() over (partition by account_id order by due_at, seq)
        + (select count(*) from busy b where b.account_id = ready.account_id) as of_account
      from ready
    ), chosen as (
      select id, of_account, due_at, seq from ranked order by of_account, due_at, seq limit ${limit}
    ), taken as (
      update hook_messages r set claim = r.claim + 1, claim_holder = ${holder}, claim_until = ${inMs(leaseMs)},
        attempts = r.attempts + 1, may_have_acted = r.may_have_acted or r.attempt_at is not null,
        attempt_at = clock_timestamp(), started_at = coalesce(r.started_at, clock_timestamp())
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
