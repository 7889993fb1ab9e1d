/**
 * Turns of conversations. A claim is a rising number of the conversation, and writes of an earlier claimer are refused.
 *
 * Messages that a claim has taken keep its number until they are answered. A claim that ends without an answer leaves them
 * waiting. The next claim takes them again, with those that came meanwhile.
 */
import type { ChannelCommand } from '@lodge/domain';
import { maxJoined, maxJoinedBytes } from '@lodge/ports';
import type { WaitingConversation, WaitingFile } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Database, Queries, Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { Changes } from '../database/notifications.ts';
import type { ChannelConversations } from '../database/tables.ts';
import { claimRows, inMs, renewClaims } from '../work/leases.ts';
import type { WorkClaim } from '../work/leases.ts';
import { answerClaim } from './answers.ts';
import type { TurnResult } from './answers.ts';
import { answerAside, asidesOf, isAtOnce } from './asides.ts';
import { storable } from './text.ts';

/** A file that is missing for this long is given up, and its message no longer waits for it. */
const fileWaitMs = 900_000;

export type ChannelTurns = ReturnType<typeof turnsIn>;

/** Each as one transaction. */
export const turnsIn = (database: Database, changes: Pick<Changes, 'on'>) => ({
  claim: (options: ClaimOptions) => database.transaction((trx) => claim(trx, options)),
  /** Renews claims and returns the ids of those still held. */
  renew: (claims: readonly WorkClaim[], leaseMs: number) =>
    database.repeatable((db) => renewClaims(db, sql`channel_conversations`, claims, leaseMs)),
  tell: (held: WorkClaim, said: string) => database.repeatable((db) => tell(db, held, said)),
  answer: (held: WorkClaim, result: TurnResult) => database.transaction((trx) => answerClaim(trx, held, result)),
  postpone: (held: WorkClaim, at: Date, reason: string) =>
    database.transaction((trx) => postpone(trx, held, at, reason)),
  stopsWanted: (claims: readonly WorkClaim[]) => database.repeatable((db) => stopsWanted(db, claims)),
  asides: (limit: number) => database.repeatable((db) => asidesOf(db, limit)),
  answerAside: (id: string, answer: Parameters<typeof answerAside>[2]) =>
    database.transaction((trx) => answerAside(trx, id, answer)),
  /** Calls back when messages may wait. */
  onWork: (listener: () => void) => changes.on('channel_work', () => listener()),
});

interface ClaimOptions {
  readonly holder: string;
  readonly limit: number;
  readonly perAgent: number;
  readonly leaseMs: number;
}

/**
 * Claims conversations in which messages wait whose files are there and that have no turn in progress. It returns at most
 * `limit`, and counts those in progress towards `perAgent`. The longest waiting come first, but no account before all others.
 * A claim ends after `leaseMs` unless it is renewed.
 */
async function claim(trx: Transaction, options: ClaimOptions): Promise<readonly WaitingConversation[]> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.channelClaims})`.execute(trx);
  const taken = await takeConversations(trx, options);
  if (taken.length === 0) return [];
  const messages = await takeMessages(trx, taken);
  const claimed = taken.map(({ due: _due, ...row }) => {
    const own = messages.filter(({ conversation }) => conversation === row.id);
    return { ...row, attempts: Math.max(0, ...own.map(({ attempts }) => attempts)), messages: own.map(toWaiting) };
  });
  return claimed.filter((each) => each.messages.length > 0);
}

/**
 * Stores the end of the agent's text so far until the claim ends; a relay may show it. False when the claim was lost.
 */
async function tell(db: Queries, { id, claim: number }: WorkClaim, said: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update channel_conversations set said = ${storable(said)}
    where id = ${id} and claim = ${number} and claim_until is not null
  `.execute(db);
  return numAffectedRows === 1n;
}

/** Ends the claim without an answer. The messages wait until `at`. */
async function postpone(
  trx: Transaction,
  { id, claim: number }: WorkClaim,
  at: Date,
  reason: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update channel_conversations set claim_holder = null, claim_until = null, not_before = ${at}, said = null
    where id = ${id} and claim = ${number} and claim_until is not null
  `.execute(trx);
  if (numAffectedRows !== 1n) return false;
  await sql`
    update channel_messages set reason = ${storable(reason, 1_000)}
    where conversation = ${id} and claim = ${number} and state = 'received' and answer_id is null
  `.execute(trx);
  return true;
}

/** Returns the conversations in which `/stop` came since their turn began. */
async function stopsWanted(db: Queries, claims: readonly WorkClaim[]): Promise<ReadonlySet<string>> {
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

type Taken = Pick<
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
    m.received_at < clock_timestamp() - ${fileWaitMs} * interval '1 millisecond'
    or not exists (select from channel_files f where f.message_id = m.id and f.file_key is null and f.reason is null)
  )
`;

/** Takes conversations. The account's n-th conversation waits behind the n-th of all others, however long it has waited. */
async function takeConversations(
  trx: Transaction,
  { holder, limit, perAgent, leaseMs }: ClaimOptions,
): Promise<readonly Taken[]> {
  const { rows } = await sql<Taken>`
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

interface TakenMessage {
  readonly id: string;
  readonly conversation: string;
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
  readonly command: ChannelCommand | null;
  readonly sentAt: string;
  readonly attempts: number;
  readonly ready: boolean;
  readonly files: readonly WaitingFile[];
}

/**
 * Takes the first waiting messages: one command alone, or texts up to the next command, the next missing file, or the
 * bounds.
 */
async function takeMessages(trx: Transaction, taken: readonly Taken[]): Promise<readonly TakenMessage[]> {
  const { rows } = await sql<{ message: TakenMessage }>`
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
      order by m.seq limit ${maxJoined}
    ) m
    order by m.seq
  `.execute(trx);
  const messages = taken.flatMap(({ id }) =>
    firstRun(rows.map((row) => row.message).filter((m) => m.conversation === id)),
  );
  await sql`
    update channel_messages m set claim = k.claim, attempts = m.attempts + 1
    from ${claimRows(taken)} where m.conversation = k.id and m.id = any(${messages.map(({ id }) => id)}::text[])
  `.execute(trx);
  return messages;
}

function firstRun(messages: readonly TakenMessage[]): readonly TakenMessage[] {
  if (messages[0]?.ready && messages[0].command !== null) return [messages[0]];
  let bytes = 0;
  const end = messages.findIndex(({ command, ready, text }, index) => {
    bytes += Buffer.byteLength(text);
    return command !== null || !ready || (index > 0 && bytes > maxJoinedBytes);
  });
  return end === -1 ? messages : messages.slice(0, end);
}

const toWaiting = ({ id, senderId, senderName, text, sentAt, files }: TakenMessage) => ({
  id,
  senderId,
  senderName,
  text,
  sentAt: new Date(sentAt),
  files,
});
