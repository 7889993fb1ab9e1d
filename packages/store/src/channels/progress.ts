/**
 * Progress messages of conversations. Such a message is no part. Its id stays in the conversation's row until it is removed,
 * so the next holder of the channel removes the message of a process that died.
 */
import type { ChannelName } from '@lodge/domain';
import type { LeaseRef, RelayStore, ShownProgress } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';
import { holds, isHeld, leaseRows } from './leases.ts';
import { storable } from './text.ts';

interface Row {
  readonly agent_id: string;
  readonly channel: ChannelName;
  readonly number: number;
  readonly conversation_id: string;
  readonly claim: number | null;
  readonly said: string | null;
  readonly progress_id: string | null;
  readonly progress_claim: number | null;
  readonly is_answering: boolean;
  readonly is_sending: boolean;
}

export async function progress(database: Database, leases: readonly LeaseRef[]): Promise<readonly ShownProgress[]> {
  if (leases.length === 0) return [];
  const { rows } = await database.repeatable((db) =>
    sql<Row>`
      with wanted as materialized (
        select * from channel_conversations where claim_until is not null and kind = 'direct'
        union all
        select * from channel_conversations
        where progress_id is not null and not (claim_until is not null and kind = 'direct')
      )
      select c.agent_id, c.channel, c.lease_number as number, v.conversation_id, v.progress_id, v.progress_claim,
        case when v.claim_until > clock_timestamp() then v.claim end as claim, v.said,
        exists (
          select from channel_parts p where p.agent_id = c.agent_id and p.channel = c.channel
            and p.conversation = v.id and p.state in ('waiting', 'sending')
        ) as is_answering,
        exists (
          select from channel_parts p where p.agent_id = c.agent_id and p.channel = c.channel
            and p.state in ('waiting', 'sending')
        ) as is_sending
      from wanted v
      join channels c on c.agent_id = v.agent_id and c.channel = v.channel
      join ${leaseRows(leases)} on ${isHeld}
      where c.enabled and c.revision = c.lease_revision
        and (v.claim_until > clock_timestamp() or v.progress_id is not null)
    `.execute(db),
  );
  return rows.map((row) => ({
    agentId: row.agent_id,
    channel: row.channel,
    number: row.number,
    conversationId: row.conversation_id,
    claim: row.claim,
    said: row.said ?? '',
    posted: row.progress_id === null ? null : { id: row.progress_id, claim: row.progress_claim! },
    isAnswering: row.is_answering,
    isSending: row.is_sending,
  }));
}

export async function posted(
  database: Database,
  lease: LeaseRef,
  conversationId: string,
  { id, claim }: Parameters<RelayStore['posted']>[2],
): Promise<boolean> {
  const { numAffectedRows } = await database.transaction((trx) =>
    sql`
      update channel_conversations v set progress_id = ${storable(id, 200)}, progress_claim = ${claim}
      from channels c
      where ${holds(lease)} and c.revision = c.lease_revision and v.agent_id = c.agent_id and v.channel = c.channel
        and v.conversation_id = ${conversationId} and v.progress_id is null
    `.execute(trx),
  );
  return numAffectedRows === 1n;
}

export async function unposted(
  database: Database,
  { agentId, channel }: LeaseRef,
  conversationId: string,
  id: string,
): Promise<void> {
  await database.repeatable((db) =>
    sql`
      update channel_conversations set progress_id = null, progress_claim = null
      where agent_id = ${agentId} and channel = ${channel} and conversation_id = ${conversationId}
        and progress_id = ${storable(id, 200)}
    `.execute(db),
  );
}
