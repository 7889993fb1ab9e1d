/** The end of a claim: statements on its conversation and messages. Those that name the claim write nothing once it is lost. */
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { ChannelConversations, ChannelMessages } from '../database/tables.ts';
import type { WorkClaim } from '../work/leases.ts';
import { ended } from './message-ends.ts';
import type { Ended } from './message-ends.ts';
import { storable } from './text.ts';

const maxReasonChars = 1_000;

/**
 * Ends the claim and returns its conversation; undefined when it was lost. `newSession` begins another session, and
 * `forgetsDelay` ends a postponement of messages that wait.
 */
export async function endClaim(
  trx: Transaction,
  { id, claim }: WorkClaim,
  { newSession, forgetsDelay }: { readonly newSession: boolean; readonly forgetsDelay: boolean },
): Promise<Pick<Selectable<ChannelConversations>, 'agentId' | 'channel'> | undefined> {
  const { rows } = await sql<Pick<Selectable<ChannelConversations>, 'agentId' | 'channel'>>`
    update channel_conversations set claim_holder = null, claim_until = null, said = null,
      session = session + ${newSession ? 1 : 0}, not_before = case when ${!forgetsDelay} then not_before end,
      last_at = clock_timestamp()
    where id = ${id} and claim = ${claim} and claim_until is not null
    returning agent_id, channel
  `.execute(trx);
  return rows[0];
}

/**
 * Ends the claim without an answer. The messages wait until `at`. An attempt that found no room for the agent does not count,
 * unless it was the first. False when the claim was lost.
 */
export async function postponeClaim(
  trx: Transaction,
  { id, claim }: WorkClaim,
  at: Date,
  reason: string,
  lackedRoom = false,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update channel_conversations set claim_holder = null, claim_until = null, not_before = ${at}, said = null
    where id = ${id} and claim = ${claim} and claim_until is not null
  `.execute(trx);
  if (numAffectedRows !== 1n) return false;
  await sql`
    update channel_messages set reason = ${storable(reason, maxReasonChars)},
      attempts = greatest(attempts - ${lackedRoom ? 1 : 0}, 1)
    where conversation = ${id} and claim = ${claim} and state = 'received' and answer_id is null
  `.execute(trx);
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

/** Makes the messages `answered` that wait in a conversation before those of the claim. */
export const answerBeforeClaim = (
  trx: Transaction,
  { id, claim }: WorkClaim,
  reason: string,
): Promise<readonly Ended[]> =>
  answerBefore(
    trx,
    id,
    sql`(
      select min(seq) from channel_messages
      where conversation = ${id} and claim = ${claim} and state = 'received' and answer_id is null
    )`,
    reason,
  );

/** Makes the messages `answered` that wait in a conversation before a message of this number. */
export const answerBeforeMessage = (
  trx: Transaction,
  conversation: string,
  seq: Selectable<ChannelMessages>['seq'],
  reason: string,
): Promise<readonly Ended[]> => answerBefore(trx, conversation, sql`${seq}::bigint`, reason);

async function answerBefore(
  trx: Transaction,
  id: string,
  before: RawBuilder<unknown>,
  reason: string,
): Promise<readonly Ended[]> {
  const { rows } = await sql<Ended>`
    update channel_messages set state = 'answered', reason = ${storable(reason, maxReasonChars)},
      answered_at = clock_timestamp()
    where conversation = ${id} and state = 'received' and answer_id is null and seq < ${before}
    returning ${ended}
  `.execute(trx);
  return rows;
}

/** Returns the reply reference of the last message of the claim. */
export async function lastReplyTo(
  trx: Transaction,
  { id, claim }: WorkClaim,
): Promise<Selectable<ChannelMessages>['replyTo']> {
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

/** Writes the state of the claim's messages, and the answer by whose end they end. */
export async function writeTaken(
  trx: Transaction,
  { id, claim }: WorkClaim,
  { state, reason, answerId }: Pick<Selectable<ChannelMessages>, 'state' | 'reason' | 'answerId'>,
): Promise<readonly Ended[]> {
  const { rows } = await sql<Ended>`
    update channel_messages set state = ${state}, answer_id = ${answerId},
      reason = ${reason === null ? null : storable(reason, maxReasonChars)},
      answered_at = ${state === 'answered' ? sql`clock_timestamp()` : null}
    where conversation = ${id} and claim = ${claim} and state = 'received' and answer_id is null
    returning ${ended}
  `.execute(trx);
  return rows;
}
