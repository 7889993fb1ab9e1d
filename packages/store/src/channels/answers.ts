/** Ends a claim with the result of its turn. */
import type { ChannelAnswer, NewEvent } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import { notify } from '../database/notifications.ts';
import type { ChannelConversations, ChannelMessages } from '../database/tables.ts';
import { appendEvents } from '../events/append.ts';
import type { WorkClaim } from '../work/leases.ts';
import { queueAnswer } from './queue.ts';
import { storable } from './text.ts';

/** The outcomes `failed` and `refused` have a sentence for the owner. Their text, if any, is still sent. */
export interface TurnResult {
  readonly outcome: 'answered' | 'failed' | 'refused';
  readonly reason: string | null;
  readonly answer: ChannelAnswer | null;
  readonly newSession?: boolean;
  /** Also ends the earlier messages that wait, unanswered and for this reason. Their postponement ends with them. */
  readonly endsEarlier?: string;
}

/** Columns of messages in the row that a statement returns of one that it wrote. */
export const ended = sql`
  id, account_id, agent_id, channel, state, reason,
  (extract(epoch from clock_timestamp() - received_at) * 1000)::float8 as duration_ms
`;

export type Ended = Pick<
  Selectable<ChannelMessages>,
  'id' | 'accountId' | 'agentId' | 'channel' | 'state' | 'reason'
> & { readonly durationMs: number };

/** Returns the event of each message that was answered or failed. */
export const eventsOf = (messages: readonly Ended[]): readonly NewEvent[] =>
  messages.flatMap(({ id, channel, state, reason, durationMs, accountId, agentId }): readonly NewEvent[] => {
    const of = { accountId, agentId, by: null };
    switch (state) {
      case 'answered':
        return [
          {
            type: 'message.answered',
            data: { channel, message_id: id, duration_ms: Math.max(0, Math.round(durationMs)) },
            ...of,
          },
        ];
      case 'failed':
      case 'unknown': {
        const data = { channel, message_id: id, state, reason: reason ?? 'The turn failed.' };
        return [{ type: 'message.failed', data, ...of }];
      }
      case 'received':
      case 'refused':
        return [];
    }
  });

/** Ends the claim, its messages and answer in one transaction. False when the claim was lost; then nothing is written. */
export async function answerClaim(
  trx: Transaction,
  { id, claim }: WorkClaim,
  { outcome, reason, answer, newSession = false, endsEarlier }: TurnResult,
): Promise<boolean> {
  const { rows } = await sql<Pick<Selectable<ChannelConversations>, 'agentId' | 'channel'>>`
    update channel_conversations set claim_holder = null, claim_until = null, said = null,
      session = session + ${newSession ? 1 : 0}, not_before = case when ${endsEarlier === undefined} then not_before end,
      last_at = clock_timestamp()
    where id = ${id} and claim = ${claim} and claim_until is not null
    returning agent_id, channel
  `.execute(trx);
  const [conversation] = rows;
  if (conversation === undefined) return false;
  const before = sql`(
    select min(seq) from channel_messages
    where conversation = ${id} and claim = ${claim} and state = 'received' and answer_id is null
  )`;
  const earlier = endsEarlier === undefined ? [] : await endEarlier(trx, { id, before }, endsEarlier);
  const replyTo = await lastReplyTo(trx, id, claim);
  const answerId = answer && (await queueAnswer(trx, { conversation: id, ...conversation, replyTo, answer }));
  const isSent = outcome === 'answered' && answerId !== null;
  const of = { outcome, reason, answerId: isSent ? answerId : null };
  const messages = await endMessages(trx, { id, claim }, of);
  await setWaiting(trx, id);
  await notify(trx, conversation.agentId, 'channel_work');
  await appendEvents(trx, eventsOf([...earlier, ...messages]));
  return true;
}

/** Sets the time since which a conversation waits: that of its first waiting message. */
export async function setWaiting(trx: Transaction, id: string): Promise<void> {
  await sql`
    update channel_conversations set waiting_since = (
      select min(received_at) from channel_messages where conversation = ${id} and state = 'received' and answer_id is null
    ) where id = ${id}
  `.execute(trx);
}

/** Ends the messages that wait in a conversation before a position of its order. */
export async function endEarlier(
  trx: Transaction,
  { id, before }: { readonly id: string; readonly before: RawBuilder<unknown> },
  reason: string,
): Promise<readonly Ended[]> {
  const { rows } = await sql<Ended>`
    update channel_messages set state = 'answered', reason = ${storable(reason, 1_000)}, answered_at = clock_timestamp()
    where conversation = ${id} and state = 'received' and answer_id is null and seq < ${before}
    returning ${ended}
  `.execute(trx);
  return rows;
}

/** Returns the reply reference of the last of its messages. */
async function lastReplyTo(trx: Transaction, id: string, claim: number) {
  const row = await trx
    .selectFrom('channelMessages')
    .select('replyTo')
    .where('conversation', '=', id)
    .where('claim', '=', claim)
    .where('state', '=', 'received')
    .where('answerId', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.replyTo ?? null;
}

/** Ends the messages. With an answer they are answered once all of it is sent, without one at once. */
async function endMessages(
  trx: Transaction,
  { id, claim }: WorkClaim,
  { outcome, reason, answerId }: Pick<TurnResult, 'outcome' | 'reason'> & { readonly answerId: string | null },
): Promise<readonly Ended[]> {
  const state = answerId === null ? outcome : 'received';
  const { rows } = await sql<Ended>`
    update channel_messages set state = ${state}, answer_id = ${answerId},
      reason = ${reason === null ? null : storable(reason, 1_000)},
      answered_at = ${state === 'answered' ? sql`clock_timestamp()` : null}
    where conversation = ${id} and claim = ${claim} and state = 'received' and answer_id is null
    returning ${ended}
  `.execute(trx);
  return rows;
}
