/** Choices that were sent, as a press names them. */
import type { Press, LeaseRef } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { ChannelAnswers, ChannelSenders } from '../database/tables.ts';
import { storable } from './text.ts';

/** Facts about a press. */
export interface PressFacts {
  /** The owner's decision about the sender; null where there was none. */
  readonly standing: Selectable<ChannelSenders>['state'] | null;
  /** The answer with this choice in the pressed message; null: there is none. */
  readonly answerId: Selectable<ChannelAnswers>['id'] | null;
  readonly label: string | null;
}

/**
 * Finds the choice of a press. A message that is still being sent has no id yet: its conversation and the token name it then.
 * The caller has locked the channel's row, and bounded the names in the press.
 */
export async function factsOfPress(
  trx: Transaction,
  { agentId, channel }: LeaseRef,
  { token, sender, conversation, messageId }: Press,
): Promise<PressFacts> {
  const { rows } = await sql<PressFacts>`
    select (
      select state from channel_senders
      where agent_id = ${agentId} and channel = ${channel} and sender_id = ${sender.id}
    ) as standing, found.answer_id, found.label
    from (select 1) one left join lateral (
      select a.id as answer_id, c.label
      from channel_conversations v
      join channel_answers a on a.conversation = v.id and a.choices is not null
      cross join lateral jsonb_to_recordset(a.choices) c (token text, label text)
      where v.agent_id = ${agentId} and v.channel = ${channel} and v.conversation_id = ${conversation.id}
        and c.token = ${storable(token, 65)}
        and exists (
          select from channel_parts p where p.answer_id = a.id and p.kind = 'text'
            and (p.platform_id = ${storable(messageId, 200)} or (p.platform_id is null and p.state in ('sending', 'unknown')))
        )
      limit 1
    ) found on true
  `.execute(trx);
  return rows[0]!;
}
