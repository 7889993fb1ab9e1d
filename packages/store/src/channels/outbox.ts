/**
 * Sends parts. A part is `waiting`, `sending` once the platform may have it, and then `sent`, `failed` or `unknown`.
 *
 * `sending` carries the number of the lease under which it began. The result is written under this number by the relay that
 * began: it is true even when the lease is over by then. A later holder finds the part `sending` under another number and
 * cannot know whether it was sent.
 */
import type { LeaseRef, PartToSend, Working } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Selectable, SqlBool } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { ChannelAnswers, ChannelParts } from '../database/tables.ts';
import { ended } from './message-ends.ts';
import type { Ended } from './message-ends.ts';
import { holds, isHeld, leaseRows } from './leases.ts';
import { storable } from './text.ts';

type Content = Pick<
  Selectable<ChannelParts>,
  'kind' | 'text' | 'format' | 'fileName' | 'mediaType' | 'bytes' | 'fileKey'
> &
  Pick<Selectable<ChannelAnswers>, 'choices'> & { readonly edited: string | null };

export async function partsToSend(
  db: Queries,
  leases: readonly LeaseRef[],
  limit: number,
): Promise<readonly PartToSend[]> {
  if (leases.length === 0) return [];
  const { rows } = await sql<Omit<PartToSend, 'content'> & Content>`
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
    select p.id, p.id as key, p.agent_id, p.channel, p.number, v.conversation_id, v.kind as conversation_kind, a.reply_to,
      others.index::int, others.count::int, others.sent_ids, p.kind, p.text, p.format, p.file_name, p.media_type, p.bytes,
      p.file_key, case when ${isLastText} then a.choices end as choices, case when p.kind = 'edit' then ${editedId} end as edited,
      p.attempts, p.state = 'sending' as unclear,
      (extract(epoch from clock_timestamp() - coalesce(p.unclear_since, case when p.state = 'sending' then coalesce(p.sending_at, p.due_at) end)) * 1000)::float8
        as unclear_for_ms
    from due p
    join channel_answers a on a.id = p.answer_id
    join channel_conversations v on v.id = p.conversation
    cross join lateral (
      select count(*) filter (where o.position < p.position) as index, count(*) as count,
        coalesce(array_agg(o.platform_id order by o.position) filter (where o.platform_id is not null), '{}') as sent_ids
      from channel_parts o where o.answer_id = p.answer_id
    ) others
    order by p.due_at, p.seq
  `.execute(db);
  return rows.map(({ kind, text, format, fileName, mediaType, bytes, fileKey, choices, edited, ...part }) => ({
    ...part,
    content: contentOf({ kind, text, format, fileName, mediaType, bytes, fileKey, choices, edited }),
  }));
}

/** Whether a part `p` of an answer `a` carries the answer's choices. */
const isLastText = sql<SqlBool>`
  a.choices is not null and p.kind = 'text' and not exists (
    select from channel_parts o where o.answer_id = a.id and o.kind = 'text' and o.position > p.position
  )
`;

/** The message that an answer `a` edits. */
const editedId = sql<string | null>`(
  select o.platform_id from channel_parts o where o.answer_id = a.edits and o.kind = 'text' order by o.position desc limit 1
)`;

function contentOf(row: Content): PartToSend['content'] {
  switch (row.kind) {
    case 'markdown':
      return { kind: 'markdown', markdown: row.text! };
    case 'text':
      return { kind: 'text', text: row.text!, format: row.format, choices: row.choices };
    case 'edit':
      return { kind: 'edit', markdown: row.text!, messageId: row.edited };
    case 'file':
      return {
        kind: 'file',
        name: row.fileName!,
        mediaType: row.mediaType!,
        bytes: Number(row.bytes),
        key: row.fileKey!,
      };
  }
}

/** A condition on a row `p` of parts. A lease names only parts of its own channel, whoever gave their ids. */
const isOf = ({ agentId, channel }: LeaseRef, partId: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`p.id = ${partId} and p.agent_id = ${agentId} and p.channel = ${channel}`;

/** Splits an answer into parts. Does nothing when the lease is lost, or the answer is split already. */
export async function split(
  trx: Transaction,
  lease: LeaseRef,
  partId: string,
  parts: readonly { readonly text: string; readonly format: string | null }[],
): Promise<void> {
  const rows = parts.map(({ text, format }, position) => ({ position, text: storable(text), format }));
  if (rows.length === 0) throw new RangeError('an answer of no parts');
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
}

export async function sending(trx: Transaction, lease: LeaseRef, partId: string): Promise<boolean> {
  const { number } = lease;
  const { numAffectedRows } = await sql`
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
  `.execute(trx);
  return numAffectedRows === 1n;
}

/** Locks the channel before its parts, in the order of its owner's changes. */
export async function lockOutbox(trx: Transaction, { agentId, channel }: LeaseRef): Promise<void> {
  await sql`
    select from channels where agent_id = ${agentId} and channel = ${channel} for no key update
  `.execute(trx);
}

/** Makes a part `sent` that this lease was sending; undefined when it was not. `isLast`: no part of its answer is left. */
export async function markSent(
  trx: Transaction,
  lease: LeaseRef,
  partId: string,
  platformId: string,
): Promise<(Pick<Selectable<ChannelParts>, 'answerId' | 'fileKey'> & { readonly isLast: boolean }) | undefined> {
  const { rows } = await sql<Pick<Selectable<ChannelParts>, 'answerId' | 'fileKey'> & { readonly isLast: boolean }>`
    update channel_parts p set state = 'sent', platform_id = ${storable(platformId, 200)}, reason = null
    where ${isOf(lease, partId)} and state = 'sending' and sending_lease = ${lease.number}
    returning answer_id, file_key, not exists (
      select from channel_parts o where o.answer_id = p.answer_id and o.id <> p.id and o.state in ('waiting', 'sending')
    ) as is_last
  `.execute(trx);
  return rows[0];
}

/** Writes the time of the last part that was sent. */
export async function noteOutbound(trx: Transaction, { agentId, channel }: LeaseRef): Promise<void> {
  await sql`
    update channels set last_outbound_at = clock_timestamp() where agent_id = ${agentId} and channel = ${channel}
  `.execute(trx);
}

type AnswerEnd = Exclude<Selectable<ChannelAnswers>['state'], 'queued'>;

/** Ends queued answers. False when there was none. */
export async function endAnswers(trx: Transaction, ids: readonly string[], state: AnswerEnd): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update channel_answers set state = ${state}, ended_at = clock_timestamp()
    where id = any(${ids}::text[]) and state = 'queued'
  `.execute(trx);
  return numAffectedRows !== 0n;
}

/** Ends the waiting parts of answers; without a reason that of each stays. */
export async function endWaitingParts(
  trx: Transaction,
  answerIds: readonly string[],
  state: 'failed' | 'unknown' | 'dropped',
  reason: string | null = null,
): Promise<void> {
  await sql`
    update channel_parts set state = ${state}, reason = coalesce(${reason}::text, reason)
    where answer_id = any(${answerIds}::text[]) and state = 'waiting'
  `.execute(trx);
}

/** Ends the messages that end with these answers. */
export async function endMessagesOf(
  trx: Transaction,
  answerIds: readonly string[],
  state: 'answered' | 'failed' | 'unknown',
  reason: string | null,
): Promise<readonly Ended[]> {
  const { rows } = await sql<Ended>`
    update channel_messages set state = ${state}, reason = ${reason},
      answered_at = case when ${state === 'answered'} then clock_timestamp() else answered_at end
    where answer_id = any(${answerIds}::text[]) and state = 'received' returning ${ended}
  `.execute(trx);
  return rows;
}

export async function sendLater(
  db: Queries,
  lease: LeaseRef,
  partId: string,
  at: Date,
  reason: string,
  isUnclear = false,
): Promise<void> {
  await sql`
    update channel_parts p set state = 'waiting', due_at = ${at}, reason = ${storable(reason, 1_000)},
      unclear_since = coalesce(unclear_since, case when ${isUnclear} then sending_at end)
    where ${isOf(lease, partId)} and state = 'sending' and sending_lease = ${lease.number}
  `.execute(db);
}

/**
 * Ends a part that this lease was sending, or that waits or is unclear while the lease holds. Returns its answer; undefined
 * when it is not ours to end.
 */
export async function markFailed(
  trx: Transaction,
  lease: LeaseRef,
  partId: string,
  state: 'failed' | 'unknown',
  reason: string,
): Promise<string | undefined> {
  const { rows } = await sql<Pick<Selectable<ChannelParts>, 'answerId'>>`
    update channel_parts p set state = ${state}, reason = ${reason}
    where ${isOf(lease, partId)} and (
      (state = 'sending' and sending_lease = ${lease.number})
      or (state in ('waiting', 'sending') and exists (select from channels c where ${holds(lease)}))
    )
    returning answer_id
  `.execute(trx);
  return rows[0]?.answerId;
}

export async function working(db: Queries, leases: readonly LeaseRef[]): Promise<readonly Working[]> {
  if (leases.length === 0) return [];
  const { rows } = await sql<Working>`
    select c.agent_id, c.channel, c.lease_number as number, v.conversation_id, v.reply_to
    from channel_conversations v
    join channels c on c.agent_id = v.agent_id and c.channel = v.channel
    join ${leaseRows(leases)} on ${isHeld}
    where v.claim_until > clock_timestamp()
  `.execute(db);
  return rows;
}
