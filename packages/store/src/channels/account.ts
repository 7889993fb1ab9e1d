/** Changes a channel to another account of its platform. The new account must not say anything of the old one. */
import type { NewEvent } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { ChannelPlace } from './senders.ts';

const sentence = 'The channel became another account before the answer was sent.';
const unclear = 'The channel became another account while the answer was sent, so it may have arrived.';

/**
 * Ends waiting messages as failed, drops waiting answers and cuts turns in progress. The connection's position and the seen
 * ids go too, because the other account's messages may have the same ids. The caller has locked the channel's row. Returns
 * the events.
 */
export async function leaveAccount(
  trx: Transaction,
  { accountId, agentId, channel }: ChannelPlace,
): Promise<readonly NewEvent[]> {
  const ours = sql`agent_id = ${agentId} and channel = ${channel}`;
  await sql`
    update channel_conversations set claim = claim + 1, claim_holder = null, claim_until = null, waiting_since = null,
      not_before = null, said = null
    where ${ours} and (claim_until is not null or waiting_since is not null)
  `.execute(trx);
  // Messages of the other account may have the same ids, and none of them may be removed.
  await sql`
    update channel_conversations set progress_id = null, progress_claim = null where ${ours} and progress_id is not null
  `.execute(trx);
  const { rows } = await sql<{ id: string; state: 'failed' | 'unknown'; reason: string }>`
    with parts as (
      update channel_parts set state = case state when 'sending' then 'unknown' else 'failed' end,
        reason = case state when 'sending' then ${unclear} else ${sentence} end
      where ${ours} and state in ('waiting', 'sending') returning answer_id, state
    ), ended as (
      select answer_id, case when bool_or(state = 'unknown') then 'unknown' else 'failed' end as state from parts group by answer_id
    ), answers as (
      update channel_answers a set state = e.state, ended_at = clock_timestamp() from ended e
      where a.id = e.answer_id and a.state = 'queued'
    )
    update channel_messages m set state = coalesce(e.state, 'failed'),
      reason = case e.state when 'unknown' then ${unclear} else ${sentence} end
    from channel_messages o left join ended e on e.answer_id = o.answer_id
    where o.id = m.id and o.agent_id = ${agentId} and o.channel = ${channel} and o.state = 'received'
    returning m.id, m.state, m.reason
  `.execute(trx);
  await trx.deleteFrom('channelSeen').where('agentId', '=', agentId).where('channel', '=', channel).execute();
  await trx
    .updateTable('channels')
    .set({ cursor: null, identity: null })
    .where('agentId', '=', agentId)
    .where('channel', '=', channel)
    .execute();
  return rows.map(({ id, state, reason }) => ({
    type: 'message.failed',
    data: { channel, message_id: id, state, reason },
    accountId,
    agentId,
    by: null,
  }));
}
