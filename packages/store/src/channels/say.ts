/** Unasked messages of an agent, or of Lodge in its place, in a conversation. */
import { maySpeakIn } from '@lodge/domain';
import type { ChannelAccess, ChannelName, ConversationKind } from '@lodge/domain';
import { maxQueued } from '@lodge/ports';
import type { ChannelAnswer, ChannelDestination, SayableConversation, Unsayable } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { queueAnswer } from './queue.ts';
import { storable } from './text.ts';

interface Found {
  readonly id: string;
  readonly kind: ConversationKind;
  readonly sender_id: string | null;
  readonly standing: 'pending' | 'approved' | 'denied' | null;
  readonly access: ChannelAccess;
  readonly enabled: boolean;
}

/** Queues a text within the transaction that it belongs to. The channel stays as it is until the commit. */
export async function sayInConversation(
  trx: Transaction<Schema>,
  destination: ChannelDestination,
  text: string,
): Promise<'queued' | Unsayable> {
  const found = await lookUp(trx, destination);
  if (typeof found === 'string') return found;
  const { agentId, channel } = destination;
  await queueAnswer(trx, { conversation: found.id, agentId, channel, replyTo: null, answer: { text, files: [] } });
  return 'queued';
}

/** As `sayInConversation`, with files, within the bound on waiting answers. */
export async function queueInConversation(
  trx: Transaction<Schema>,
  destination: ChannelDestination,
  answer: ChannelAnswer,
): Promise<{ readonly id: string } | Unsayable | 'full'> {
  const found = await lookUp(trx, destination);
  if (typeof found === 'string') return found;
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from (
      select from channel_answers where conversation = ${found.id} and state = 'queued' limit ${maxQueued}
    ) waiting
  `.execute(trx);
  if (rows[0]!.n >= maxQueued) return 'full';
  const { agentId, channel } = destination;
  const id = await queueAnswer(trx, { conversation: found.id, agentId, channel, replyTo: null, answer });
  if (id === null) throw new Error('an answer without text and files');
  return { id };
}

/** Returns null when the agent may say something there now. */
export async function whyUnsayable(
  trx: Transaction<Schema>,
  destination: ChannelDestination,
): Promise<Unsayable | null> {
  const found = await lookUp(trx, destination);
  return typeof found === 'string' ? found : null;
}

async function lookUp(
  trx: Transaction<Schema>,
  { accountId, agentId, channel, conversationId }: ChannelDestination,
): Promise<Found | Unsayable> {
  const { rows } = await sql<Found>`
    select v.id, v.kind, v.sender_id, s.state as standing, c.access, c.enabled
    from channel_conversations v
    join channels c on c.agent_id = v.agent_id and c.channel = v.channel
    left join channel_senders s on s.agent_id = v.agent_id and s.channel = v.channel and s.sender_id = v.sender_id
    where v.account_id = ${accountId} and v.agent_id = ${agentId} and v.channel = ${channel}
      and v.conversation_id = ${storable(conversationId)}
    for key share of v for share of c
  `.execute(trx);
  const [found] = rows;
  if (found === undefined) return 'no_conversation';
  return isOpen(found, conversationId) ? found : 'not_allowed';
}

function isOpen({ kind, sender_id: senderId, standing: decided, access, enabled }: Found, conversationId: string) {
  const standing = decided === null || decided === 'pending' ? 'unknown' : decided;
  return enabled && maySpeakIn(access, { kind, conversationId, senderId, standing });
}

type FoundInList = Found & {
  readonly channel: ChannelName;
  readonly conversation_id: string;
  readonly title: string | null;
  readonly last_at: Date;
};

/** Returns those of the newest `limit` in which the agent may say something, newest first. */
export async function sayableConversations(
  db: Kysely<Schema>,
  accountId: string,
  agentId: string,
  limit: number,
): Promise<readonly SayableConversation[]> {
  const { rows } = await sql<FoundInList>`
    select v.id, v.channel, v.conversation_id, v.title, v.last_at, v.kind, v.sender_id, s.state as standing, c.access, c.enabled
    from channel_conversations v
    join channels c on c.agent_id = v.agent_id and c.channel = v.channel
    left join channel_senders s on s.agent_id = v.agent_id and s.channel = v.channel and s.sender_id = v.sender_id
    where v.account_id = ${accountId} and v.agent_id = ${agentId}
    order by v.last_at desc, v.id limit ${limit}
  `.execute(db);
  return rows
    .filter((row) => isOpen(row, row.conversation_id))
    .map(({ channel, conversation_id: conversationId, kind, title, last_at: lastAt }) => ({
      channel,
      conversationId,
      kind,
      title,
      lastAt,
    }));
}
