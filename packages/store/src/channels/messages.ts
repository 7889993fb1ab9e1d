/** Messages as the channel's owner sees and retries them. */
import type { ChannelName, ConversationKind, MessageState } from '@lodge/domain';
import type { ActorNote, ChannelMessage, MessageQuery } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { writeNote } from '../events/change-note.ts';
import { notify } from '../database/notifications.ts';

interface MessageRow {
  readonly id: string;
  readonly agent_id: string;
  readonly channel: ChannelName;
  readonly conversation_id: string;
  readonly kind: ConversationKind;
  readonly sender_id: string;
  readonly sender_name: string;
  readonly state: MessageState;
  readonly reason: string | null;
  readonly received_at: Date;
  readonly answered_at: Date | null;
  readonly attempts: number;
  readonly text: string;
  readonly answer: string | null;
}

const selectMessages = (where: RawBuilder<unknown>): RawBuilder<MessageRow> => sql<MessageRow>`
  select m.id, m.agent_id, m.channel, v.conversation_id, v.kind, m.sender_id, m.sender_name, m.state, m.reason,
    m.received_at, m.answered_at, m.attempts, m.text, a.text as answer
  from channel_messages m
  join channel_conversations v on v.id = m.conversation
  left join channel_answers a on a.id = m.answer_id
  where ${where}
`;

export async function messagePage(
  db: Kysely<Schema>,
  { accountId, agentId, channel, state, before, limit }: MessageQuery,
): Promise<readonly ChannelMessage[]> {
  const { rows } = await selectMessages(sql`
    m.agent_id = ${agentId} and m.account_id = ${accountId}
    ${channel === undefined ? sql`` : sql`and m.channel = ${channel}`}
    ${state === undefined ? sql`` : sql`and m.state = ${state}`}
    ${before === undefined ? sql`` : sql`and m.seq < (select seq from channel_messages where id = ${before} and agent_id = ${agentId})`}
    order by m.seq desc limit ${limit}
  `).execute(db);
  return rows.map(toMessage);
}

interface Place {
  readonly accountId: string;
  readonly agentId: string;
  readonly messageId: string;
}

interface Stuck {
  readonly state: MessageState;
  readonly channel: ChannelName;
  readonly conversation: string;
  readonly answer_id: string | null;
}

export async function retryMessage(
  trx: Transaction<Schema>,
  { accountId, agentId, messageId }: Place,
  note: ActorNote | undefined,
): Promise<ChannelMessage | 'not_retryable' | null> {
  const stuck = await lockMessage(trx, { accountId, agentId, messageId });
  if (stuck === undefined) return null;
  if (stuck.state !== 'failed' && stuck.state !== 'unknown') return 'not_retryable';
  if (stuck.answer_id === null) await turnAgain(trx, messageId, stuck.conversation);
  else await sendAgain(trx, stuck.answer_id);
  const { rows } = await selectMessages(sql`m.id = ${messageId}`).execute(trx);
  await notify(trx, agentId, 'channel_work');
  const data = { channel: stuck.channel, message_id: messageId };
  await writeNote(trx, { accountId, agentId }, { type: 'message.retried', data }, note);
  return toMessage(rows[0]!);
}

/** Locks a message, after its conversation, in the order of claims and answers. */
async function lockMessage(
  trx: Transaction<Schema>,
  { accountId, agentId, messageId }: Place,
): Promise<Stuck | undefined> {
  await sql`
    select from channel_conversations v where v.agent_id = ${agentId}
      and v.id = (select conversation from channel_messages where id = ${messageId} and agent_id = ${agentId})
    for no key update
  `.execute(trx);
  return trx
    .selectFrom('channel_messages')
    .select(['state', 'channel', 'conversation', 'answer_id'])
    .where('id', '=', messageId)
    .where('agent_id', '=', agentId)
    .where('account_id', '=', accountId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

async function turnAgain(trx: Transaction<Schema>, messageId: string, conversation: string): Promise<void> {
  await sql`
    update channel_messages set state = 'received', reason = null, claim = null, attempts = 0 where id = ${messageId}
  `.execute(trx);
  await sql`
    update channel_conversations v set not_before = null, waiting_since = least(
      v.waiting_since, (select received_at from channel_messages where id = ${messageId})
    ) where id = ${conversation}
  `.execute(trx);
}

/** Sends again the one answer of all its messages. */
async function sendAgain(trx: Transaction<Schema>, answerId: string): Promise<void> {
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

const toMessage = (row: MessageRow): ChannelMessage => ({
  id: row.id,
  agentId: row.agent_id,
  channel: row.channel,
  conversationId: row.conversation_id,
  conversationKind: row.kind,
  senderId: row.sender_id,
  senderName: row.sender_name,
  state: row.state,
  reason: row.reason,
  receivedAt: row.received_at,
  answeredAt: row.answered_at,
  attempts: row.attempts,
  text: row.text,
  answer: row.answer,
});
