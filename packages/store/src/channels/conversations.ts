/** Conversations into which an agent, or Lodge in its place, may say something unasked. */
import type { ChannelAccess } from '@lodge/domain';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { ChannelConversations, ChannelSenders } from '../database/tables.ts';
import type { ChannelPlace } from './senders.ts';
import { storable } from './text.ts';

/** A conversation of an agent, by the platform's id. */
export interface ChannelDestination extends ChannelPlace {
  readonly conversationId: string;
}

/** A conversation with what its channel allows now. */
export interface ConversationFacts extends Pick<
  Selectable<ChannelConversations>,
  'id' | 'channel' | 'conversationId' | 'kind' | 'title' | 'lastAt'
> {
  readonly senderId: string | null;
  /** The owner's decision about the sender; null where there was none. */
  readonly standing: Selectable<ChannelSenders>['state'] | null;
  readonly access: ChannelAccess;
  readonly enabled: boolean;
}

const selectConversations = sql`
  select v.id, v.channel, v.conversation_id, v.kind, v.title, v.last_at, v.sender_id, s.state as standing, c.access, c.enabled
  from channel_conversations v
  join channels c on c.agent_id = v.agent_id and c.channel = v.channel
  left join channel_senders s on s.agent_id = v.agent_id and s.channel = v.channel and s.sender_id = v.sender_id
`;

/** Finds a conversation. It and its channel stay as they are until the commit. */
export async function holdConversation(
  trx: Transaction,
  { accountId, agentId, channel, conversationId }: ChannelDestination,
): Promise<ConversationFacts | undefined> {
  const { rows } = await sql<ConversationFacts>`
    ${selectConversations}
    where v.account_id = ${accountId} and v.agent_id = ${agentId} and v.channel = ${channel}
      and v.conversation_id = ${storable(conversationId)}
    for key share of v for share of c
  `.execute(trx);
  return rows[0];
}

/** A conversation of the agent by Lodge's own id. */
export const findDestination = (
  trx: Transaction,
  agentId: string,
  id: string,
): Promise<Pick<ChannelDestination, 'channel' | 'conversationId'> | undefined> =>
  trx
    .selectFrom('channelConversations')
    .select(['channel', 'conversationId'])
    .where('id', '=', id)
    .where('agentId', '=', agentId)
    .executeTakeFirst();

/** Returns the most recently written conversations, newest first. */
export async function newestConversations(
  db: Queries,
  accountId: string,
  agentId: string,
  limit: number,
): Promise<readonly ConversationFacts[]> {
  const { rows } = await sql<ConversationFacts>`
    ${selectConversations}
    where v.account_id = ${accountId} and v.agent_id = ${agentId}
    order by v.last_at desc, v.id limit ${limit}
  `.execute(db);
  return rows;
}

/** Counts the answers that wait in a conversation, up to `most`. */
export async function countQueued(trx: Transaction, conversation: string, most: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from (
      select from channel_answers where conversation = ${conversation} and state = 'queued' limit ${most}
    ) waiting
  `.execute(trx);
  return rows[0]!.n;
}
