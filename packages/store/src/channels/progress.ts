/**
 * Progress messages of conversations. Such a message is no part. Its id stays in the conversation's row until it is removed,
 * so the next holder of the channel removes the message of a process that died.
 */
import type { LeaseRef, ShownProgress } from '@lodge/ports';
import { sql } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { holds, isHeld, leaseRows } from './leases.ts';
import { storable } from './text.ts';

export async function progress(db: Queries, leases: readonly LeaseRef[]): Promise<readonly ShownProgress[]> {
  if (leases.length === 0) return [];
  const { rows } = await sql<ShownProgress>`
    with wanted as materialized (
      select * from channel_conversations where claim_until is not null and kind = 'direct'
      union all
      select * from channel_conversations
      where progress_id is not null and not (claim_until is not null and kind = 'direct')
    )
    select c.agent_id, c.channel, c.lease_number as number, v.conversation_id,
      case when v.progress_id is not null then json_build_object('id', v.progress_id, 'claim', v.progress_claim) end as posted,
      case when v.claim_until > clock_timestamp() then v.claim end as claim, coalesce(v.said, '') as said,
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
  `.execute(db);
  return rows;
}

export async function posted(
  trx: Transaction,
  lease: LeaseRef,
  conversationId: string,
  { id, claim }: NonNullable<ShownProgress['posted']>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update channel_conversations v set progress_id = ${storable(id, 200)}, progress_claim = ${claim}
    from channels c
    where ${holds(lease)} and c.revision = c.lease_revision and v.agent_id = c.agent_id and v.channel = c.channel
      and v.conversation_id = ${conversationId} and v.progress_id is null
  `.execute(trx);
  return numAffectedRows === 1n;
}

export async function unposted(
  db: Queries,
  { agentId, channel }: LeaseRef,
  conversationId: string,
  id: string,
): Promise<void> {
  await sql`
    update channel_conversations set progress_id = null, progress_claim = null
    where agent_id = ${agentId} and channel = ${channel} and conversation_id = ${conversationId}
      and progress_id = ${storable(id, 200)}
  `.execute(db);
}
