/** Messages as the channel's owner sees and retries them. */
import type { ChannelName, ConversationKind, MessageState } from '@lodge/domain';
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { ChannelMessages } from '../database/tables.ts';

export interface ChannelMessage extends Pick<
  Selectable<ChannelMessages>,
  'id' | 'agentId' | 'channel' | 'senderId' | 'senderName' | 'state' | 'receivedAt' | 'attempts' | 'text'
> {
  readonly conversationId: string;
  readonly conversationKind: ConversationKind;
  /** The reason of `failed`, `unknown` or `refused`, a sentence of ours. */
  readonly reason: string | null;
  /** The time when the last part of the answer was sent. */
  readonly answeredAt: Date | null;
  readonly answer: string | null;
}

export interface MessageQuery {
  readonly accountId: string;
  readonly agentId: string;
  readonly channel?: ChannelName;
  readonly state?: MessageState;
  readonly before?: string;
  readonly limit: number;
}

export interface MessagePlace {
  readonly accountId: string;
  readonly agentId: string;
  readonly messageId: string;
}

const selectMessages = (where: RawBuilder<unknown>): RawBuilder<ChannelMessage> => sql<ChannelMessage>`
  select m.id, m.agent_id, m.channel, v.conversation_id, v.kind as conversation_kind, m.sender_id, m.sender_name, m.state,
    m.reason, m.received_at, m.answered_at, m.attempts, m.text, a.text as answer
  from channel_messages m
  join channel_conversations v on v.id = m.conversation
  left join channel_answers a on a.id = m.answer_id
  where ${where}
`;

/** Returns messages newest first; `before` is an id of the last page. */
export async function messagePage(
  db: Queries,
  { accountId, agentId, channel, state, before, limit }: MessageQuery,
): Promise<readonly ChannelMessage[]> {
  const { rows } = await selectMessages(sql`
    m.agent_id = ${agentId} and m.account_id = ${accountId}
    ${channel === undefined ? sql`` : sql`and m.channel = ${channel}`}
    ${state === undefined ? sql`` : sql`and m.state = ${state}`}
    ${before === undefined ? sql`` : sql`and m.seq < (select seq from channel_messages where id = ${before} and agent_id = ${agentId})`}
    order by m.seq desc limit ${limit}
  `).execute(db);
  return rows;
}

export async function selectMessage(trx: Transaction, messageId: string): Promise<ChannelMessage> {
  const { rows } = await selectMessages(sql`m.id = ${messageId}`).execute(trx);
  return rows[0]!;
}

type LockedMessage = Pick<Selectable<ChannelMessages>, 'state' | 'channel' | 'conversation' | 'answerId'>;

/** Locks a message, after its conversation, in the order of claims and answers. */
export async function lockMessage(
  trx: Transaction,
  { accountId, agentId, messageId }: MessagePlace,
): Promise<LockedMessage | undefined> {
  await sql`
    select from channel_conversations v where v.agent_id = ${agentId}
      and v.id = (select conversation from channel_messages where id = ${messageId} and agent_id = ${agentId})
    for no key update
  `.execute(trx);
  return trx
    .selectFrom('channelMessages')
    .select(['state', 'channel', 'conversation', 'answerId'])
    .where('id', '=', messageId)
    .where('agentId', '=', agentId)
    .where('accountId', '=', accountId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Lets a locked message wait for another turn. */
export async function turnAgain(trx: Transaction, messageId: string, conversation: string): Promise<void> {
  await sql`
    update channel_messages set state = 'received', reason = null, claim = null, attempts = 0 where id = ${messageId}
  `.execute(trx);
  await sql`
    update channel_conversations v set not_before = null, waiting_since = least(
      v.waiting_since, (select received_at from channel_messages where id = ${messageId})
    ) where id = ${conversation}
  `.execute(trx);
}

/** Lets the unsent parts of an answer wait again, and its failed messages with them. */
export async function sendAgain(trx: Transaction, answerId: string): Promise<void> {
  await sql`
    update channel_messages set state = 'received', reason = null
    where answer_id = ${answerId} and state in ('failed', 'unknown')
  `.execute(trx);
  await sql`update channel_answers set state = 'queued', ended_at = null where id = ${answerId}`.execute(trx);
  await sql`
    update channel_parts set state = 'waiting', reason = null, attempts = 0, due_at = clock_timestamp(),
      sending_at = null, unclear_since = null
    where answer_id = ${answerId} and state in ('failed', 'unknown', 'dropped')
  `.execute(trx);
}
