/** Ends a claim with the result of its turn. */
import type { ChannelName, Json } from '@lodge/domain';
import type { ChannelTurns, NewEvent, WaitingConversation } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { appendEvents } from '../events/append.ts';
import { notify } from '../database/notifications.ts';
import { queueAnswer } from './queue.ts';
import { storable } from './text.ts';

type Result = Parameters<ChannelTurns['answer']>[1];

interface Conversation {
  readonly agent_id: string;
  readonly account_id: string;
  readonly channel: ChannelName;
}

interface Answered {
  readonly id: string;
  readonly reply_to: Json | null;
  readonly duration_ms: number;
}

export async function answerClaim(
  trx: Transaction<Schema>,
  { id, claim }: Pick<WaitingConversation, 'id' | 'claim'>,
  { outcome, reason, answer, newSession = false, endsEarlier }: Result,
): Promise<boolean> {
  const { rows } = await sql<Conversation>`
    update channel_conversations set claim_holder = null, claim_until = null, said = null,
      session = session + ${newSession ? 1 : 0}, not_before = case when ${endsEarlier === undefined} then not_before end,
      last_at = clock_timestamp()
    where id = ${id} and claim = ${claim} and claim_until is not null
    returning agent_id, account_id, channel
  `.execute(trx);
  const [conversation] = rows;
  if (conversation === undefined) return false;
  const { agent_id: agentId, channel } = conversation;
  const before = sql`(
    select min(seq) from channel_messages
    where conversation = ${id} and claim = ${claim} and state = 'received' and answer_id is null
  )`;
  const earlier = endsEarlier === undefined ? [] : await endEarlier(trx, { id, before }, endsEarlier);
  const replyTo = await lastReplyTo(trx, id, claim);
  const answerId = answer && (await queueAnswer(trx, { conversation: id, agentId, channel, replyTo, answer }));
  const isSent = outcome === 'answered' && answerId !== null;
  const ended = await endMessages(trx, { id, claim }, { outcome, reason, answerId: isSent ? answerId : null });
  await setWaiting(trx, id);
  await notify(trx, agentId, 'channel_work');
  const events = isSent ? [] : eventsOf(conversation, ended, outcome, reason);
  await appendEvents(trx, [...eventsOf(conversation, earlier, 'answered', null), ...events]);
  return true;
}

/** Sets the time since which a conversation waits: that of its first waiting message. */
export async function setWaiting(trx: Transaction<Schema>, id: string): Promise<void> {
  await sql`
    update channel_conversations set waiting_since = (
      select min(received_at) from channel_messages where conversation = ${id} and state = 'received' and answer_id is null
    ) where id = ${id}
  `.execute(trx);
}

/** Ends the messages that wait in a conversation before a position of its order. */
export async function endEarlier(
  trx: Transaction<Schema>,
  { id, before }: { readonly id: string; readonly before: RawBuilder<unknown> },
  reason: string,
): Promise<readonly Answered[]> {
  const { rows } = await sql<Answered>`
    update channel_messages set state = 'answered', reason = ${storable(reason, 1_000)}, answered_at = clock_timestamp()
    where conversation = ${id} and state = 'received' and answer_id is null and seq < ${before}
    returning id, reply_to, (extract(epoch from clock_timestamp() - received_at) * 1000)::float8 as duration_ms
  `.execute(trx);
  return rows;
}

/** Returns the reply reference of the last of its messages. */
async function lastReplyTo(trx: Transaction<Schema>, id: string, claim: number): Promise<Json | null> {
  const row = await trx
    .selectFrom('channel_messages')
    .select('reply_to')
    .where('conversation', '=', id)
    .where('claim', '=', claim)
    .where('state', '=', 'received')
    .where('answer_id', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.reply_to ?? null;
}

/** Ends the messages. With an answer they are answered once all of it is sent, without one at once. */
async function endMessages(
  trx: Transaction<Schema>,
  { id, claim }: Pick<WaitingConversation, 'id' | 'claim'>,
  { outcome, reason, answerId }: Pick<Result, 'outcome' | 'reason'> & { readonly answerId: string | null },
): Promise<readonly Answered[]> {
  const state = answerId === null ? outcome : 'received';
  const { rows } = await sql<Answered>`
    update channel_messages set state = ${state}, answer_id = ${answerId},
      reason = ${reason === null ? null : storable(reason, 1_000)},
      answered_at = ${state === 'answered' ? sql`clock_timestamp()` : null}
    where conversation = ${id} and claim = ${claim} and state = 'received' and answer_id is null
    returning id, reply_to, (extract(epoch from clock_timestamp() - received_at) * 1000)::float8 as duration_ms
  `.execute(trx);
  return rows;
}

export function eventsOf(
  { agent_id: agentId, account_id: accountId, channel }: Conversation,
  ended: readonly Answered[],
  outcome: Result['outcome'],
  reason: string | null,
): readonly NewEvent[] {
  const of = { accountId, agentId, by: null };
  const why = storable(reason ?? 'The turn failed.', 1_000);
  switch (outcome) {
    case 'refused':
      return [];
    case 'failed':
      return ended.map(({ id }) => ({
        type: 'message.failed',
        data: { channel, message_id: id, state: 'failed', reason: why },
        ...of,
      }));
    case 'answered':
      return ended.map(({ id, duration_ms: durationMs }) => ({
        type: 'message.answered',
        data: { channel, message_id: id, duration_ms: Math.max(0, Math.round(durationMs)) },
        ...of,
      }));
  }
}
