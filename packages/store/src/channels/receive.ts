/**
 * Statements for messages that a connection receives: facts about senders, and rows of messages. The caller has locked the
 * channel's row, so messages of a channel are numbered in the order of their receipt.
 */
import { inboundBounds, pairingBounds } from '@lodge/domain';
import type { ChannelAccess, ConversationKind, Json, KnownOfSenders } from '@lodge/domain';
import type { InboundMessage, LeaseRef } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import { hasEnded } from './senders.ts';
import { storableJson } from './text.ts';

/** Returns what is known of the senders of messages, in one statement. It counts up to a bound, beyond which the count does not matter. */
export async function knownOfSenders(
  trx: Transaction,
  { agentId, channel }: LeaseRef,
  { perSenderHourly }: ChannelAccess,
  messages: readonly InboundMessage[],
): Promise<KnownOfSenders> {
  const ids = messages.map(({ id }) => id);
  const senders = [...new Set(messages.map(({ sender }) => sender.id))];
  const { rows } = await sql<{ known: KnownOfSenders }>`
    select json_build_object(
      'seen', (
        select coalesce(json_agg(platform_id), '[]') from channel_seen
        where agent_id = ${agentId} and channel = ${channel} and platform_id = any(${ids}::text[])
      ),
      'senders', (
        select coalesce(json_agg(json_build_object('senderId', sender_id, 'state', state)), '[]') from channel_senders
        where agent_id = ${agentId} and channel = ${channel} and sender_id = any(${senders}::text[])
      ),
      'hours', (
        select coalesce(json_agg(json_build_object('senderId', s.id, 'passed', h.passed, 'refused', h.refused)), '[]')
        from unnest(${senders}::text[]) s (id), lateral (
          select count(*) filter (where state <> 'refused') as passed, count(*) filter (where state = 'refused') as refused
          from (
            select state from channel_messages m
            where m.agent_id = ${agentId} and m.channel = ${channel} and m.sender_id = s.id
              and m.received_at > now() - interval '1 hour'
            limit ${perSenderHourly + inboundBounds.refusedOfSenderHourly}
          ) latest
        ) h
      ),
      'waiting', (
        select count(*) from (
          select from channel_messages m
          where m.agent_id = ${agentId} and m.channel = ${channel} and m.state = 'received' and m.answer_id is null
          limit ${inboundBounds.waiting}
        ) w
      ),
      'refused', (
        select count(*) from (
          select from channel_messages where agent_id = ${agentId} and channel = ${channel} and state = 'refused'
            and received_at > now() - interval '1 day'
          limit ${inboundBounds.refusedDaily}
        ) r
      )
    ) as known
  `.execute(trx);
  return rows[0]!.known;
}

/**
 * Writes a sender who waits for a decision, and returns the code that is to be sent. Undefined when it was sent within the
 * hour, or when too many wait; the statement counts them, for speed.
 */
export async function insertPending(
  trx: Transaction,
  { agentId, channel }: LeaseRef,
  sender: InboundMessage['sender'],
  code: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ code: string }>`
    insert into channel_senders as s (agent_id, channel, sender_id, name, state, code)
    select ${agentId}, ${channel}, ${sender.id}, ${sender.name}, 'pending', ${code}
    where (
      select count(*) from channel_senders where agent_id = ${agentId} and channel = ${channel} and state = 'pending'
        and sender_id <> ${sender.id}
    ) < ${pairingBounds.pending}
    on conflict (agent_id, channel, sender_id) do update set asked_at = clock_timestamp(), name = excluded.name
      where s.state = 'pending' and s.asked_at < clock_timestamp() - ${pairingBounds.tellAgainAfterMs} * interval '1 millisecond'
    returning code
  `.execute(trx);
  return rows[0]?.code;
}

/**
 * Removes ended codes, and another one when there is no place for a new sender. A random code gives way only to somebody who
 * received none within the hour; otherwise few strangers could take turns. It is one statement, because every message of a
 * stranger comes to it.
 */
export async function giveWay(
  trx: Transaction,
  { agentId, channel }: LeaseRef,
  { sender, conversation }: InboundMessage,
): Promise<void> {
  const { pending, holdsMs, isOldAfterMs, tellAgainAfterMs } = pairingBounds;
  // Postgres computes uncorrelated parts once per statement, and every message of a stranger comes here.
  const waiting = sql`agent_id = ${agentId} and channel = ${channel} and state = 'pending'`;
  const isOlderThan = (ms: number) => sql`asked_at < clock_timestamp() - ${ms} * interval '1 millisecond'`;
  const wasSent = sql`exists (
    select from channel_answers a join channel_conversations v on v.id = a.conversation
    where v.agent_id = ${agentId} and v.channel = ${channel} and v.conversation_id = ${conversation.id}
      and a.created_at > clock_timestamp() - ${tellAgainAfterMs} * interval '1 millisecond'
  )`;
  await sql`
    delete from channel_senders s where ${waiting} and (
      ${hasEnded}
      or (
        ${isOlderThan(holdsMs)}
        and not exists (select from channel_senders where ${waiting} and sender_id = ${sender.id})
        and sender_id = any(array(
          select sender_id from channel_senders
          where ${waiting} and (${isOlderThan(isOldAfterMs)} or (${isOlderThan(holdsMs)} and not ${wasSent}))
          order by case when ${isOlderThan(isOldAfterMs)} then asked_at end nulls last, random()
          limit greatest(0, (select count(*) from channel_senders where ${waiting}) - ${pending - 1})
        ))
      )
    )
  `.execute(trx);
}

/** Returns our own id of a conversation, which is made where there is none. */
export async function conversationOf(
  trx: Transaction,
  { agentId, channel }: LeaseRef,
  accountId: string,
  { id, kind, title }: { readonly id: string; readonly kind: ConversationKind; readonly title: string | null },
): Promise<string> {
  const row = await trx
    .insertInto('channelConversations')
    .values({ agentId, channel, accountId, conversationId: id, kind, title })
    .onConflict((conflict) =>
      conflict.columns(['agentId', 'channel', 'conversationId']).doUpdateSet({ lastAt: sql<Date>`clock_timestamp()` }),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Adds one to a sender's refused messages, for each time that the sender is listed. */
export async function countRefused(trx: Transaction, lease: LeaseRef, senders: readonly string[]): Promise<void> {
  if (senders.length === 0) return;
  await sql`
    update channel_senders s set refused_count = s.refused_count + n.n
    from (select id, count(*) as n from unnest(${senders}::text[]) id group by id) n
    where s.agent_id = ${lease.agentId} and s.channel = ${lease.channel} and s.sender_id = n.id
  `.execute(trx);
}

/** Writes the connection's position, where it moved, and what came. */
export async function noteInbound(
  trx: Transaction,
  { agentId, channel }: LeaseRef,
  cursor: Json | undefined,
  { hasNew, refused }: { readonly hasNew: boolean; readonly refused: number },
): Promise<void> {
  await sql`
    update channels set
      cursor = coalesce(${cursor === undefined ? null : storableJson(cursor)}::jsonb, cursor),
      last_inbound_at = case when ${hasNew} then clock_timestamp() else last_inbound_at end,
      refused_count = refused_count + ${refused}
    where agent_id = ${agentId} and channel = ${channel}
  `.execute(trx);
}
