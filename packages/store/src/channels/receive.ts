/**
 * Receives a connection's messages in one transaction: the new ones, each as the channel's access decides, and the
 * connection's position.
 *
 * The domain decides (`InboundBatch`) over facts that are read here in one statement. The channel's row is locked meanwhile, so
 * messages of a channel are numbered in the order of their receipt. One statement bounds the senders that wait for a decision,
 * because every message of a stranger comes to it.
 */
import { randomInt } from 'node:crypto';
import { InboundBatch, inboundBounds, makePairingCode, pairingBounds, pairingText } from '@lodge/domain';
import type { ChannelAccess, ConversationKind, Json, KnownOfSenders } from '@lodge/domain';
import { maxInboundChars, maxInboundFiles } from '@lodge/ports';
import type { InboundMessage, LeaseRef, NewEvent } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import { appendEvents } from '../events/append.ts';
import { lockCurrent } from './leases.ts';
import { queueAnswer } from './queue.ts';
import { keepMessages } from './kept-messages.ts';
import { hasEnded } from './senders.ts';
import { storable, storableJson } from './text.ts';

const maxBatch = 100;
const maxNameChars = 200;

export async function receive(
  trx: Transaction,
  lease: LeaseRef,
  given: readonly InboundMessage[],
  cursor?: Json,
): Promise<void> {
  if (given.length > maxBatch) throw new RangeError(`more than ${maxBatch} messages at once`);
  const channel = await lockCurrent(trx, lease);
  const messages = given.map(bounded);
  const known = messages.length === 0 ? null : await lookUp(trx, lease, channel.access, messages);
  const batch = known && new InboundBatch<InboundMessage>(channel.access, known);
  for (const message of messages) batch?.add(message);
  const events: NewEvent[] = [];
  const of = { accountId: channel.accountId, agentId: lease.agentId, by: null };
  if (batch !== null) {
    for (const sender of batch.asking.values()) {
      const code = await ask(trx, lease, channel.accountId, sender);
      const name = sender.sender.name;
      if (code === null) continue;
      const data = { channel: lease.channel, sender_id: sender.sender.id, sender_name: name, code };
      events.push({ type: 'channel.access_requested', data, ...of });
    }
    const ids = await keepMessages(trx, lease, channel.accountId, batch.kept);
    for (const [index, { state, message }] of batch.kept.entries()) {
      if (state !== 'received') continue;
      const data = { channel: lease.channel, message_id: ids[index]!, conversation: message.conversation.id };
      events.push({ type: 'message.received', data, ...of });
    }
    await countRefused(trx, lease, batch.counted);
  }
  await sql`
    update channels set
      cursor = coalesce(${cursor === undefined ? null : storableJson(cursor)}::jsonb, cursor),
      last_inbound_at = case when ${batch?.hasNew ?? false} then clock_timestamp() else last_inbound_at end,
      refused_count = refused_count + ${batch?.counted.length ?? 0}
    where agent_id = ${lease.agentId} and channel = ${lease.channel}
  `.execute(trx);
  await appendEvents(trx, events);
}

/** Whether `receive` would let the message become a turn under the present access. */
export async function admits(
  trx: Transaction,
  lease: LeaseRef,
  { conversation, sender, addressed }: Pick<InboundMessage, 'conversation' | 'sender' | 'addressed'>,
): Promise<boolean> {
  const { access } = await lockCurrent(trx, lease);
  const none = { id: '', text: '', sentAt: new Date(0), files: [], replyTo: null };
  const message = bounded({ ...none, conversation, sender, addressed });
  return new InboundBatch(access, await lookUp(trx, lease, access, [message])).lets(message);
}

function bounded(message: InboundMessage): InboundMessage {
  const { conversation, sender } = message;
  return {
    ...message,
    id: storable(message.id, maxNameChars),
    conversation: {
      ...conversation,
      id: storable(conversation.id, maxNameChars),
      title: conversation.title === null ? null : storable(conversation.title, maxNameChars),
    },
    sender: { ...sender, id: storable(sender.id, maxNameChars), name: storable(sender.name, maxNameChars) },
    text: storable(message.text, maxInboundChars),
    files: message.files.slice(0, maxInboundFiles),
  };
}

/** Looks up the facts. It counts up to a bound, beyond which the count does not matter. */
async function lookUp(
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

/** Sends a sender the code, once an hour. Null when it was sent already, or too many were sent theirs a moment ago. */
async function ask(
  trx: Transaction,
  lease: LeaseRef,
  accountId: string,
  message: InboundMessage,
): Promise<string | null> {
  const { agentId, channel } = lease;
  const { sender, conversation, replyTo } = message;
  await giveWay(trx, lease, message);
  const { rows } = await sql<{ code: string }>`
    insert into channel_senders as s (agent_id, channel, sender_id, name, state, code)
    select ${agentId}, ${channel}, ${sender.id}, ${sender.name}, 'pending', ${makePairingCode(randomInt)}
    where (
      select count(*) from channel_senders where agent_id = ${agentId} and channel = ${channel} and state = 'pending'
        and sender_id <> ${sender.id}
    ) < ${pairingBounds.pending}
    on conflict (agent_id, channel, sender_id) do update set asked_at = clock_timestamp(), name = excluded.name
      where s.state = 'pending' and s.asked_at < clock_timestamp() - ${pairingBounds.tellAgainAfterMs} * interval '1 millisecond'
    returning code
  `.execute(trx);
  const code = rows[0]?.code;
  if (code === undefined) return null;
  const id = await conversationOf(trx, lease, accountId, conversation);
  const answer = { text: pairingText(code), files: [] };
  await queueAnswer(trx, { conversation: id, agentId, channel, replyTo, answer });
  return code;
}

/**
 * Removes ended codes, and another one when there is no place for a new sender. A random code gives way only to somebody who
 * received none within the hour; otherwise few strangers could take turns.
 */
async function giveWay(
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

async function conversationOf(
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

async function countRefused(trx: Transaction, lease: LeaseRef, senders: readonly string[]): Promise<void> {
  if (senders.length === 0) return;
  await sql`
    update channel_senders s set refused_count = s.refused_count + n.n
    from (select id, count(*) as n from unnest(${senders}::text[]) id group by id) n
    where s.agent_id = ${lease.agentId} and s.channel = ${lease.channel} and s.sender_id = n.id
  `.execute(trx);
}
