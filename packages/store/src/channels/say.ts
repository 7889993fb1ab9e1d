/** What an agent, or Lodge in its place, says in a conversation without having been asked there. */
import { maySpeakIn } from '@lodge/domain';
import type { ChannelAccess, ConversationKind } from '@lodge/domain';
import type { ChannelDestination, Unsayable } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
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

/** Queues a text within the transaction of whatever it belongs to; the channel stays as it is until its commit. */
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

/** Null: something may be said there now. */
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
  const standing = found.standing === null || found.standing === 'pending' ? 'unknown' : found.standing;
  const there = { kind: found.kind, conversationId, senderId: found.sender_id, standing } as const;
  return found.enabled && maySpeakIn(found.access, there) ? found : 'not_allowed';
}
