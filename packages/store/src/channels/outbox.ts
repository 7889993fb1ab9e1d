/**
 * Sends parts. A part is `waiting`, `sending` once the platform may have it, and then `sent`, `failed` or `unknown`.
 *
 * `sending` carries the number of the lease under which it began. The result is written under this number by the relay that
 * began: it is true even when the lease is over by then. A later holder finds the part `sending` under another number and
 * cannot know whether it was sent.
 */
import type { ChannelName, ConversationKind, Json } from '@lodge/domain';
import type { LeaseRef, NewEvent, PartToSend, Working } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, SqlBool, Transaction } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvents } from '../events/append.ts';
import { holds, isHeld, leaseRows } from './leases.ts';
import { notify } from '../database/notifications.ts';
import { storable } from './text.ts';

interface PartRow {
  readonly id: string;
  readonly agent_id: string;
  readonly channel: ChannelName;
  readonly number: number;
  readonly conversation_id: string;
  readonly conversation_kind: ConversationKind;
  readonly reply_to: Json | null;
  readonly index: number;
  readonly count: number;
  readonly sent_ids: readonly string[];
  readonly kind: 'markdown' | 'text' | 'file';
  readonly text: string | null;
  readonly format: string | null;
  readonly file_name: string | null;
  readonly media_type: string | null;
  readonly bytes: string | null;
  readonly file_key: string | null;
  readonly attempts: number;
  readonly state: 'waiting' | 'sending';
  readonly unclear_ms: number | null;
}

export async function partsToSend(
  database: Database,
  leases: readonly LeaseRef[],
  limit: number,
): Promise<readonly PartToSend[]> {
  if (leases.length === 0) return [];
  const { rows } = await database.repeatable((db) =>
    sql<PartRow>`
      with firsts as materialized (
        select distinct on (p.conversation) p.*, c.lease_number as number
        from channel_parts p
        join channels c on c.agent_id = p.agent_id and c.channel = p.channel
        join ${leaseRows(leases)} on ${isHeld}
        where p.state in ('waiting', 'sending') and c.enabled
        order by p.conversation, p.seq, p.position
      ), due as (
        select * from firsts
        where (state = 'waiting' and due_at <= clock_timestamp()) or (state = 'sending' and sending_lease <> number)
        order by due_at, seq limit ${limit}
      )
      select p.id, p.agent_id, p.channel, p.number, v.conversation_id, v.kind as conversation_kind, a.reply_to,
        others.index::int, others.count::int, others.sent_ids, p.kind, p.text, p.format, p.file_name, p.media_type, p.bytes,
        p.file_key, p.attempts, p.state,
        (extract(epoch from clock_timestamp() - coalesce(p.unclear_since, case when p.state = 'sending' then coalesce(p.sending_at, p.due_at) end)) * 1000)::float8
          as unclear_ms
      from due p
      join channel_answers a on a.id = p.answer_id
      join channel_conversations v on v.id = p.conversation
      cross join lateral (
        select count(*) filter (where o.position < p.position) as index, count(*) as count,
          coalesce(array_agg(o.platform_id order by o.position) filter (where o.platform_id is not null), '{}') as sent_ids
        from channel_parts o where o.answer_id = p.answer_id
      ) others
      order by p.due_at, p.seq
    `.execute(db),
  );
  return rows.map(toPart);
}

const toPart = (row: PartRow): PartToSend => ({
  agentId: row.agent_id,
  channel: row.channel,
  number: row.number,
  id: row.id,
  key: row.id,
  conversationId: row.conversation_id,
  conversationKind: row.conversation_kind,
  replyTo: row.reply_to,
  index: row.index,
  count: row.count,
  sentIds: row.sent_ids,
  content: contentOf(row),
  attempts: row.attempts,
  unclear: row.state === 'sending',
  unclearForMs: row.unclear_ms,
});

function contentOf(row: PartRow): PartToSend['content'] {
  switch (row.kind) {
    case 'markdown':
      return { kind: 'markdown', markdown: row.text! };
    case 'text':
      return { kind: 'text', text: row.text!, format: row.format };
    case 'file':
      return {
        kind: 'file',
        name: row.file_name!,
        mediaType: row.media_type!,
        bytes: Number(row.bytes),
        key: row.file_key!,
      };
  }
}

/** A condition on a row `p` of parts. A lease names only parts of its own channel, whoever gave their ids. */
const isOf = ({ agentId, channel }: LeaseRef, partId: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`p.id = ${partId} and p.agent_id = ${agentId} and p.channel = ${channel}`;

/** Splits an answer into parts. Does nothing when the lease is lost, or the answer is split already. */
export function split(
  database: Database,
  lease: LeaseRef,
  partId: string,
  parts: readonly { readonly text: string; readonly format: string | null }[],
): Promise<void> {
  const rows = parts.map(({ text, format }, position) => ({ position, text: storable(text), format }));
  if (rows.length === 0) throw new RangeError('an answer of no parts');
  return database.transaction(async (trx) => {
    await sql`
      with given as (
        select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) g (position integer, text text, format text)
      ), first as (
        update channel_parts p set kind = 'text', text = g.text, format = g.format
        from given g, channels c
        where ${isOf(lease, partId)} and p.kind = 'markdown' and p.state = 'waiting' and g.position = 0 and ${holds(lease)}
        returning p.*
      )
      insert into channel_parts (answer_id, agent_id, channel, conversation, seq, position, kind, text, format)
      select f.answer_id, f.agent_id, f.channel, f.conversation, f.seq, g.position, 'text', g.text, g.format
      from first f, given g where g.position > 0
    `.execute(trx);
  });
}

export async function sending(database: Database, lease: LeaseRef, partId: string): Promise<boolean> {
  const { number } = lease;
  const { numAffectedRows } = await database.transaction((trx) =>
    sql`
      update channel_parts p set state = 'sending', sending_lease = ${number}, attempts = p.attempts + 1,
        unclear_since = coalesce(p.unclear_since, case when p.state = 'sending' then coalesce(p.sending_at, p.due_at) end),
        sending_at = clock_timestamp()
      from (select c.agent_id from channels c where ${holds(lease)} and c.enabled for key share) held
      where ${isOf(lease, partId)} and p.kind <> 'markdown'
        and (p.state = 'waiting' or (p.state = 'sending' and p.sending_lease <> ${number}))
        and not exists (
          select from channel_parts o where o.agent_id = p.agent_id and o.channel = p.channel
            and o.conversation = p.conversation and o.state in ('waiting', 'sending')
            and (o.seq, o.position) < (p.seq, p.position)
        )
    `.execute(trx),
  );
  return numAffectedRows === 1n;
}

interface Ended {
  readonly answer_id: string;
}

export function sent(database: Database, lease: LeaseRef, partId: string, platformId: string): Promise<string | null> {
  return database.transaction(async (trx) => {
    // The channel is locked before its parts, in the order of its owner's changes.
    await sql`
      select from channels where agent_id = ${lease.agentId} and channel = ${lease.channel} for no key update
    `.execute(trx);
    const { rows } = await sql<Ended & { readonly file_key: string | null }>`
      update channel_parts p set state = 'sent', platform_id = ${storable(platformId, 200)}, reason = null
      where ${isOf(lease, partId)} and state = 'sending' and sending_lease = ${lease.number}
      returning answer_id, file_key
    `.execute(trx);
    const [part] = rows;
    if (part === undefined) return null;
    const { numAffectedRows } = await sql`
      update channel_answers a set state = 'sent', ended_at = clock_timestamp()
      where id = ${part.answer_id} and state = 'queued'
        and not exists (select from channel_parts p where p.answer_id = a.id and p.state in ('waiting', 'sending'))
    `.execute(trx);
    const events = numAffectedRows === 1n ? await answerMessages(trx, lease, part.answer_id) : [];
    await sql`
      update channels set last_outbound_at = clock_timestamp()
      where agent_id = ${lease.agentId} and channel = ${lease.channel}
    `.execute(trx);
    await notify(trx, lease.agentId, 'channel_work');
    await appendEvents(trx, events);
    return part.file_key;
  });
}

async function answerMessages(trx: Transaction<Schema>, lease: LeaseRef, answerId: string): Promise<NewEvent[]> {
  const { rows } = await sql<{ id: string; account_id: string; duration_ms: number }>`
    update channel_messages set state = 'answered', answered_at = clock_timestamp(), reason = null
    where answer_id = ${answerId} and state = 'received'
    returning id, account_id, (extract(epoch from clock_timestamp() - received_at) * 1000)::float8 as duration_ms
  `.execute(trx);
  return rows.map(({ id, account_id: accountId, duration_ms: durationMs }) => ({
    type: 'message.answered',
    data: { channel: lease.channel, message_id: id, duration_ms: Math.max(0, Math.round(durationMs)) },
    accountId,
    agentId: lease.agentId,
    by: null,
  }));
}

export async function sendLater(
  database: Database,
  lease: LeaseRef,
  partId: string,
  at: Date,
  reason: string,
  isUnclear = false,
): Promise<void> {
  await database.repeatable((db) =>
    sql`
      update channel_parts p set state = 'waiting', due_at = ${at}, reason = ${storable(reason, 1_000)},
        unclear_since = coalesce(unclear_since, case when ${isUnclear} then sending_at end)
      where ${isOf(lease, partId)} and state = 'sending' and sending_lease = ${lease.number}
    `.execute(db),
  );
}

export function sendFailed(
  database: Database,
  lease: LeaseRef,
  partId: string,
  outcome: 'failed' | 'unknown',
  reason: string,
): Promise<void> {
  const sentence = storable(reason, 1_000);
  return database.transaction(async (trx) => {
    const { rows } = await sql<Ended>`
      update channel_parts p set state = ${outcome}, reason = ${sentence}
      where ${isOf(lease, partId)} and (
        (state = 'sending' and sending_lease = ${lease.number})
        or (state in ('waiting', 'sending') and exists (select from channels c where ${holds(lease)}))
      )
      returning answer_id
    `.execute(trx);
    const [part] = rows;
    if (part === undefined) return;
    await sql`
      update channel_parts set state = 'dropped' where answer_id = ${part.answer_id} and state = 'waiting'
    `.execute(trx);
    await sql`
      update channel_answers set state = ${outcome}, ended_at = clock_timestamp()
      where id = ${part.answer_id} and state = 'queued'
    `.execute(trx);
    const failed = await sql<{ id: string; account_id: string }>`
      update channel_messages set state = ${outcome}, reason = ${sentence}
      where answer_id = ${part.answer_id} and state = 'received' returning id, account_id
    `.execute(trx);
    await notify(trx, lease.agentId, 'channel_work');
    await appendEvents(
      trx,
      failed.rows.map(({ id, account_id: accountId }) => ({
        type: 'message.failed',
        data: { channel: lease.channel, message_id: id, state: outcome, reason: sentence },
        accountId,
        agentId: lease.agentId,
        by: null,
      })),
    );
  });
}

export async function working(database: Database, leases: readonly LeaseRef[]): Promise<readonly Working[]> {
  if (leases.length === 0) return [];
  const { rows } = await database.repeatable((db) =>
    sql<{ agent_id: string; channel: ChannelName; number: number; conversation_id: string; reply_to: Json | null }>`
      select c.agent_id, c.channel, c.lease_number as number, v.conversation_id, v.reply_to
      from channel_conversations v
      join channels c on c.agent_id = v.agent_id and c.channel = v.channel
      join ${leaseRows(leases)} on ${isHeld}
      where v.claim_until > clock_timestamp()
    `.execute(db),
  );
  return rows.map((row) => ({
    agentId: row.agent_id,
    channel: row.channel,
    number: row.number,
    conversationId: row.conversation_id,
    replyTo: row.reply_to,
  }));
}
