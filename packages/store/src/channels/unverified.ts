/** Channels whose credentials no platform has ever accepted. Their keys block nobody, and they end after some days. */
import type { NewEvent } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import { appendEvents } from '../events/append.ts';
import { notify } from '../database/notifications.ts';
import type { ChannelPlace } from './senders.ts';

const atOnce = 100;
const days = 7;
const message = `No platform has taken these credentials within ${days} days, so they were removed. Put them again.`;

/**
 * Removes the credentials of some channels that were put without being verified and have not connected since. Status and
 * event inform their owners. Keys of earlier releases (`unverified/earlier/`) may have been verified, and stay. True when
 * there may be more.
 */
export async function endUnverified(trx: Transaction): Promise<boolean> {
  const { rows } = await sql<ChannelPlace>`
    update channels c set account_key = null, revision = c.revision + 1, updated_at = clock_timestamp(),
      status = case when c.enabled then 'error' else 'disabled' end,
      status_code = 'not_verified', status_message = ${message}, status_at = clock_timestamp()
    where (c.agent_id, c.channel) in (
      select u.agent_id, u.channel from channels u
      where u.account_key like 'unverified/%' and u.account_key not like 'unverified/earlier/%'
        and not exists (
          select from channel_credentials k where k.agent_id = u.agent_id and k.channel = u.channel
            and k.created_at > clock_timestamp() - ${days} * interval '1 day'
        )
      limit ${atOnce} for no key update skip locked
    )
    returning c.agent_id, c.account_id, c.channel
  `.execute(trx);
  for (const { agentId, channel } of rows) {
    await trx.deleteFrom('channelCredentials').where('agentId', '=', agentId).where('channel', '=', channel).execute();
    await notify(trx, agentId, 'channel_changed');
  }
  const events = rows.map(({ agentId, accountId, channel }): NewEvent => {
    const data = { channel, code: 'not_verified', message, status: 'error' } as const;
    return { type: 'channel.disconnected', data, accountId, agentId, by: null };
  });
  await appendEvents(trx, events);
  return rows.length === atOnce;
}
