import { pairingBounds, readPairingCode } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import type { ActorNote, ChannelSender, ChannelStore } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { writeNote } from '../events/change-note.ts';
import { notify } from '../database/notifications.ts';
import { storable } from './text.ts';

/** Most senders shown at once. */
const maxShown = 1_000;

interface Of {
  readonly accountId: string;
  readonly agentId: string;
  readonly channel: ChannelName;
}

/** A condition on a row `s`: the sender waits, and the code has ended. */
export const hasEnded = sql<boolean>`
  (s.state = 'pending' and s.asked_at < clock_timestamp() - ${pairingBounds.endsAfterMs} * interval '1 millisecond')
`;

type SenderRow = Omit<ChannelSender, 'senderId' | 'askedAt' | 'decidedAt'> & {
  readonly sender_id: string;
  readonly asked_at: Date;
  readonly decided_at: Date | null;
};

/** Returns senders, newest first. */
export async function sendersOf(
  db: Kysely<Schema>,
  { accountId, agentId, channel }: Of,
  state?: ChannelSender['state'],
): Promise<readonly ChannelSender[]> {
  const { rows } = await sql<SenderRow>`
    select s.channel, s.sender_id, s.name, s.state, s.code, s.asked_at, s.decided_at
    from channel_senders s join channels c using (agent_id, channel)
    where agent_id = ${agentId} and channel = ${channel} and c.account_id = ${accountId}
      and s.state = coalesce(${state ?? null}, s.state) and not ${hasEnded}
    order by s.asked_at desc, s.sender_id limit ${maxShown}
  `.execute(db);
  return rows.map(toSender);
}

export async function decideSender(
  trx: Transaction<Schema>,
  { accountId, agentId, channel, code, approve }: Parameters<ChannelStore['decide']>[0],
  note: ActorNote | undefined,
): Promise<ChannelSender | null> {
  const { rows } = await sql<SenderRow>`
    update channel_senders s set state = ${approve ? 'approved' : 'denied'}, code = null, decided_code = s.code,
      decided_at = clock_timestamp()
    from channels c
    where c.agent_id = s.agent_id and c.channel = s.channel and c.account_id = ${accountId}
      and s.agent_id = ${agentId} and s.channel = ${channel} and s.code = ${storable(readPairingCode(code))}
      and not ${hasEnded}
    returning s.channel, s.sender_id, s.name, s.state, s.code, s.asked_at, s.decided_at
  `.execute(trx);
  const [row] = rows;
  if (row === undefined) return null;
  const sender = toSender(row);
  await notify(trx, agentId, 'channel_changed');
  const data = { channel, sender_id: sender.senderId, approved: approve };
  await writeNote(trx, { accountId, agentId }, { type: 'channel.sender_decided', data }, note);
  return sender;
}

/** Returns the sender that was decided about by this code. A decision is final, so the sender is as it was then. */
export async function senderDecidedBy(
  db: Kysely<Schema>,
  { accountId, agentId, channel }: Of,
  code: string,
): Promise<ChannelSender | null> {
  const { rows } = await sql<SenderRow>`
    select s.channel, s.sender_id, s.name, s.state, s.code, s.asked_at, s.decided_at
    from channel_senders s join channels c using (agent_id, channel)
    where agent_id = ${agentId} and channel = ${channel} and c.account_id = ${accountId}
      and s.decided_code = ${storable(readPairingCode(code))}
  `.execute(db);
  return rows[0] === undefined ? null : toSender(rows[0]);
}

const toSender = ({ sender_id, asked_at, decided_at, ...row }: SenderRow): ChannelSender => ({
  ...row,
  senderId: sender_id,
  askedAt: asked_at,
  decidedAt: decided_at,
});
