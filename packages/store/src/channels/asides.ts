/** Commands that are answered beside the turns. They wait neither for a turn nor for a place of their agent. */
import type { Aside } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { ChannelMessages } from '../database/tables.ts';
import { endEarlier, eventsOf, setWaiting } from './answers.ts';
import type { TurnResult } from './answers.ts';
import { appendEvents } from '../events/append.ts';
import { queueAnswer } from './queue.ts';

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

type Found = Pick<Selectable<ChannelMessages>, 'conversation' | 'agentId' | 'channel' | 'seq' | 'replyTo'>;

/**
 * Answers a command once, under the lock of claims, so either a claim has the command or this call does. False when it was
 * answered already, when a claim has it, or when a turn began that it must stop first.
 */
export async function answerAside(
  trx: Transaction,
  id: string,
  { text, endsEarlier }: { readonly text: string } & Pick<TurnResult, 'endsEarlier'>,
): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.channelClaims})`.execute(trx);
  const { rows } = await sql<Found>`
    select v.id as conversation, v.agent_id, v.channel, m.seq, m.reply_to
    from channel_messages m join channel_conversations v on v.id = m.conversation
    where m.id = ${id} and ${isAside} for no key update
  `.execute(trx);
  const [found] = rows;
  if (found === undefined) return false;
  const { seq, ...to } = found;
  const { conversation } = to;
  if (endsEarlier !== undefined) {
    // The holder of an ended claim is too late from now on.
    await sql`
      update channel_conversations set claim = claim + 1, claim_holder = null, claim_until = null, said = null,
        not_before = null where id = ${conversation}
    `.execute(trx);
  }
  const before = { id: conversation, before: sql`${seq}::bigint` };
  const earlier = endsEarlier === undefined ? [] : await endEarlier(trx, before, endsEarlier);
  const answerId = await queueAnswer(trx, { ...to, answer: { text, files: [] } });
  await sql`update channel_messages set answer_id = ${answerId} where id = ${id}`.execute(trx);
  await setWaiting(trx, conversation);
  await appendEvents(trx, eventsOf(earlier));
  return true;
}
