/** Commands that are answered beside the turns. They wait neither for a turn nor for a place of their agent. */
import type { Aside } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { ChannelMessages } from '../database/tables.ts';

/**
 * A condition on a row `m` of messages: a command that waits for nothing. A command that could not be answered at once waits
 * with the other messages.
 */
export const isAtOnce = sql<boolean>`
  (
    m.command is not null and m.attempts = 0 and m.state = 'received' and m.answer_id is null
    and not exists (select from channel_files f where f.message_id = m.id)
  )
`;

/**
 * A condition on `m` and its conversation `v`. A stop cuts a turn in progress before it is answered; `/new` comes in its
 * order.
 */
const isAside = sql<boolean>`
  (
    ${isAtOnce} and (
      m.command in ('help', 'status')
      or (m.command = 'stop' and (v.claim_until is null or v.claim_until <= clock_timestamp()))
    )
  )
`;

/**
 * Returns commands that no turn holds up, oldest first: `/help` and `/status` always, `/stop` where its conversation has no
 * turn in progress. Claimed commands are left out.
 */
export async function asidesOf(db: Queries, limit: number): Promise<readonly Aside[]> {
  const { rows } = await sql<Aside>`
    select m.id, v.account_id, v.agent_id, m.command
    from channel_conversations v
    join channels c on c.agent_id = v.agent_id and c.channel = v.channel and c.enabled
    join agents a on a.id = v.agent_id and a.desired = 'running'
    join channel_messages m on m.conversation = v.id
    where v.waiting_since is not null and ${isAside}
    order by m.seq limit ${limit}
  `.execute(db);
  return rows;
}

export type LockedAside = Pick<Selectable<ChannelMessages>, 'conversation' | 'agentId' | 'channel' | 'seq' | 'replyTo'>;

/** Locks a command that no turn holds up. Undefined when it was answered, a claim has it, or a turn began that it is to stop. */
export async function lockAside(trx: Transaction, id: string): Promise<LockedAside | undefined> {
  const { rows } = await sql<LockedAside>`
    select v.id as conversation, v.agent_id, v.channel, m.seq, m.reply_to
    from channel_messages m join channel_conversations v on v.id = m.conversation
    where m.id = ${id} and ${isAside} for no key update
  `.execute(trx);
  return rows[0];
}

/** Raises the claim's number, so the holder of an ended claim is too late from now on, and ends a postponement. */
export async function cutClaim(trx: Transaction, conversation: string): Promise<void> {
  await sql`
    update channel_conversations set claim = claim + 1, claim_holder = null, claim_until = null, said = null,
      not_before = null where id = ${conversation}
  `.execute(trx);
}

/** The message ends with this answer. */
export async function setAnswer(trx: Transaction, messageId: string, answerId: string | null): Promise<void> {
  await sql`update channel_messages set answer_id = ${answerId} where id = ${messageId}`.execute(trx);
}
