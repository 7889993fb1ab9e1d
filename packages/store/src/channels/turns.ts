/**
 * Turns of conversations. A claim is a rising number of the conversation, and writes of an earlier claimer are refused.
 *
 * Messages that a claim has taken keep its number until they are answered. A claim that ends without an answer leaves them
 * waiting. The next claim takes them again, with those that came meanwhile.
 */
import { inboundBounds } from '@lodge/domain';
import type { ChannelCommand } from '@lodge/domain';
import type { WaitingFile } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { ChannelConversations } from '../database/tables.ts';
import { claimRows, inMs, renewClaims } from '../work/leases.ts';
import type { WorkClaim } from '../work/leases.ts';
import { isAtOnce } from './asides.ts';
import { storable } from './text.ts';

/** Claims wait for each other until the transaction ends. */
export async function lockClaims(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.channelClaims})`.execute(trx);
}

export interface ClaimOptions {
  readonly holder: string;
  readonly limit: number;
  readonly perAgent: number;
  readonly leaseMs: number;
}

/** Renews claims and returns the ids of those still held. */
export const renewTurns = (db: Queries, claims: readonly WorkClaim[], leaseMs: number): Promise<ReadonlySet<string>> =>
  renewClaims(db, sql`channel_conversations`, claims, leaseMs);

/**
 * Stores the end of the agent's text so far until the claim ends; a relay may show it. False when the claim was lost.
 */
export async function tellTurn(db: Queries, { id, claim: number }: WorkClaim, said: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update channel_conversations set said = ${storable(said)}
    where id = ${id} and claim = ${number} and claim_until is not null
  `.execute(db);
  return numAffectedRows === 1n;
}

/** Returns the conversations in which `/stop` came since their turn began. */
export async function stopsWanted(db: Queries, claims: readonly WorkClaim[]): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select v.id from channel_conversations v join ${claimRows(claims)} on v.id = k.id and v.claim = k.claim
    where v.claim_until is not null and exists (
      select from channel_messages m
      where m.conversation = v.id and m.state = 'received' and m.answer_id is null and m.command = 'stop'
        and m.claim is distinct from v.claim
    )
  `.execute(db);
  return new Set(rows.map(({ id }) => id));
}

export type TakenConversation = Pick<
  Selectable<ChannelConversations>,
  'id' | 'accountId' | 'agentId' | 'channel' | 'kind' | 'conversationId' | 'title' | 'session' | 'claim'
> & {
  readonly lastReason: string | null;
  /** With false only a single waiting command is taken. */
  readonly due: boolean;
};

/** A condition on a row `m` of messages: its files are there, or were waited for long enough. */
const isReady = sql<boolean>`
  (
    m.received_at < clock_timestamp() - ${inboundBounds.fileWaitMs} * interval '1 millisecond'
    or not exists (select from channel_files f where f.message_id = m.id and f.file_key is null and f.reason is null)
  )
`;

/**
 * Takes conversations in which messages wait whose files are there and that have no turn in progress. It returns at most
 * `limit`, and counts those in progress towards `perAgent`. The account's n-th conversation waits behind the n-th of all
 * others, however long it has waited. A claim ends after `leaseMs` unless it is renewed. This one statement chooses, for
 * speed, under the lock of claims.
 */
export async function takeConversations(
  trx: Transaction,
  { holder, limit, perAgent, leaseMs }: ClaimOptions,
): Promise<readonly TakenConversation[]> {
  const { rows } = await sql<TakenConversation>`
    with busy as materialized (
      select agent_id, account_id from channel_conversations where claim_until > clock_timestamp()
    ), ready as (
      select v.id, v.agent_id, v.account_id, v.waiting_since, v.due,
        row_number() over (partition by v.agent_id order by v.waiting_since, v.id)
          + (select count(*) from busy b where b.agent_id = v.agent_id) as of_agent
      from (
        select v.*, (v.not_before is null or v.not_before <= clock_timestamp()) and (
          select ${isReady} from channel_messages m
          where m.conversation = v.id and m.state = 'received' and m.answer_id is null order by m.seq limit 1
        ) as due
        from channel_conversations v
        where v.waiting_since is not null and (v.claim_until is null or v.claim_until <= clock_timestamp())
      ) v
      join channels c on c.agent_id = v.agent_id and c.channel = v.channel and c.enabled
      join agents a on a.id = v.agent_id and a.desired = 'running'
      where v.due or exists (select from channel_messages m where m.conversation = v.id and ${isAtOnce})
    ), ranked as (
      select id, waiting_since, due,
        row_number() over (partition by account_id order by waiting_since, id)
          + (select count(*) from busy b where b.account_id = ready.account_id) as of_account
      from ready where of_agent <= ${perAgent}
    ), chosen as (
      select id, of_account, waiting_since, due from ranked order by of_account, waiting_since, id limit ${limit}
    ), taken as (
      update channel_conversations v set claim = v.claim + 1, claim_holder = ${holder}, claim_until = ${inMs(leaseMs)},
        not_before = case when chosen.due then null else v.not_before end, said = null
      from chosen where v.id = chosen.id
      returning v.id, v.account_id, v.agent_id, v.channel, v.kind, v.conversation_id, v.title, v.session, v.claim, chosen.due
    )
    select taken.*, (
      select case when m.state = 'answered' then null else m.reason end from channel_messages m
      where m.conversation = taken.id and m.state <> 'received' order by m.seq desc limit 1
    ) as last_reason
    from taken join chosen using (id) order by chosen.of_account, chosen.waiting_since, id
  `.execute(trx);
  return rows;
}

export interface WaitingInTurn {
  readonly id: string;
  readonly conversation: string;
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
  readonly command: ChannelCommand | null;
  readonly sentAt: string;
  readonly attempts: number;
  /** Whether its files are there, or were waited for long enough. */
  readonly ready: boolean;
  readonly files: readonly WaitingFile[];
}

/** Returns the first waiting messages of each conversation, in their order; of one that is not due the commands alone. */
export async function firstWaiting(
  trx: Transaction,
  taken: readonly TakenConversation[],
  limit: number,
): Promise<readonly WaitingInTurn[]> {
  const { rows } = await sql<{ message: WaitingInTurn }>`
    select json_build_object(
      'id', m.id, 'conversation', m.conversation, 'senderId', m.sender_id, 'senderName', m.sender_name, 'text', m.text,
      'command', m.command, 'sentAt', m.sent_at, 'attempts', m.attempts, 'ready', ${isReady}, 'files', (
        select coalesce(json_agg(json_build_object(
          'name', f.name, 'mediaType', f.media_type, 'kind', f.kind, 'key', f.file_key, 'reason',
          case when f.file_key is null then coalesce(f.reason, 'it did not come in time') end
        ) order by f.position), '[]') from channel_files f where f.message_id = m.id
      )
    ) as message
    from unnest(${taken.map(({ id }) => id)}::text[], ${taken.map(({ due }) => due)}::boolean[]) v (id, due), lateral (
      select * from channel_messages m
      where m.conversation = v.id and m.state = 'received' and m.answer_id is null and (v.due or ${isAtOnce})
      order by m.seq limit ${limit}
    ) m
    order by m.seq
  `.execute(trx);
  return rows.map(({ message }) => message);
}

/** Writes the claims into these messages of their conversations. */
export async function takeMessages(
  trx: Transaction,
  taken: readonly WorkClaim[],
  messageIds: readonly string[],
): Promise<void> {
  await sql`
    update channel_messages m set claim = k.claim, attempts = m.attempts + 1
    from ${claimRows(taken)} where m.conversation = k.id and m.id = any(${messageIds}::text[])
  `.execute(trx);
}
