/** People who asked to talk to an agent, or whom its owner decided about. Names are the sender's own text. */
import { pairingBounds } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { ChannelSenders } from '../database/tables.ts';
import { storable } from './text.ts';

/** Most senders shown at once. */
const maxShown = 1_000;

/** The agent, its account, and the channel. */
export interface ChannelPlace {
  readonly accountId: string;
  readonly agentId: string;
  readonly channel: ChannelName;
}

/** `code` is the one that the sender received; null once decided. */
export type ChannelSender = Pick<
  Selectable<ChannelSenders>,
  'channel' | 'senderId' | 'name' | 'state' | 'code' | 'askedAt' | 'decidedAt'
>;

const columns = sql`s.channel, s.sender_id, s.name, s.state, s.code, s.asked_at, s.decided_at`;

/** A condition on a row `s`: the sender waits, and the code has ended. */
export const hasEnded = sql<boolean>`
  (s.state = 'pending' and s.asked_at < clock_timestamp() - ${pairingBounds.endsAfterMs} * interval '1 millisecond')
`;

/** Returns senders, newest first. */
export async function sendersOf(
  db: Queries,
  { accountId, agentId, channel }: ChannelPlace,
  state?: ChannelSender['state'],
): Promise<readonly ChannelSender[]> {
  const { rows } = await sql<ChannelSender>`
    select ${columns} from channel_senders s join channels c using (agent_id, channel)
    where agent_id = ${agentId} and channel = ${channel} and c.account_id = ${accountId}
      and s.state = coalesce(${state ?? null}, s.state) and not ${hasEnded}
    order by s.asked_at desc, s.sender_id limit ${maxShown}
  `.execute(db);
  return rows;
}

/** Decides about the sender who waits with this code, and returns the sender. */
export async function decideSender(
  trx: Transaction,
  { accountId, agentId, channel }: ChannelPlace,
  code: string,
  state: 'approved' | 'denied',
): Promise<ChannelSender | undefined> {
  const { rows } = await sql<ChannelSender>`
    update channel_senders s set state = ${state}, code = null, decided_code = s.code, decided_at = clock_timestamp()
    from channels c
    where c.agent_id = s.agent_id and c.channel = s.channel and c.account_id = ${accountId}
      and s.agent_id = ${agentId} and s.channel = ${channel} and s.code = ${storable(code)} and not ${hasEnded}
    returning ${columns}
  `.execute(trx);
  return rows[0];
}

/** Returns the sender that was decided about by this code. A decision is final, so the sender is as it was then. */
export async function senderDecidedBy(
  db: Queries,
  { accountId, agentId, channel }: ChannelPlace,
  code: string,
): Promise<ChannelSender | undefined> {
  const { rows } = await sql<ChannelSender>`
    select ${columns} from channel_senders s join channels c using (agent_id, channel)
    where agent_id = ${agentId} and channel = ${channel} and c.account_id = ${accountId}
      and s.decided_code = ${storable(code)}
  `.execute(db);
  return rows[0];
}
