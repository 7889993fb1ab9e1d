/** Writes messages of one channel in one statement, with their conversations, files and ids. */
import type { LeaseRef, InboundMessage } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import { storableJson } from './text.ts';

export interface KeptMessage {
  readonly message: InboundMessage;
  readonly state: 'received' | 'refused';
  readonly reason: string | null;
  readonly command: string | null;
}

/** Writes messages and returns our ids in their order. The caller has locked the channel's row. */
export async function keepMessages(
  trx: Transaction,
  { agentId, channel }: LeaseRef,
  accountId: string,
  kept: readonly KeptMessage[],
): Promise<readonly string[]> {
  if (kept.length === 0) return [];
  const rows = storableJson(kept.map(rowOf));
  const conversations = storableJson(conversationsOf(kept));
  await sql`
    insert into channel_conversations as v (
      agent_id, channel, account_id, conversation_id, kind, title, reply_to, waiting_since, sender_id
    )
    select ${agentId}, ${channel}, ${accountId}, g.id, g.kind, g.title, g.reply_to,
      case when g.waits then clock_timestamp() end, g.sender
    from jsonb_to_recordset(${conversations}::jsonb) g (
      id text, kind text, title text, reply_to jsonb, waits boolean, sender text
    )
    order by g.id
    on conflict (agent_id, channel, conversation_id) do update set
      title = excluded.title,
      reply_to = case when excluded.waiting_since is null then v.reply_to else excluded.reply_to end,
      waiting_since = coalesce(v.waiting_since, excluded.waiting_since),
      sender_id = coalesce(excluded.sender_id, v.sender_id),
      last_at = clock_timestamp()
  `.execute(trx);
  const { rows: written } = await sql<{ id: string; n: number }>`
    with given as materialized (
      select *, gen_random_uuid()::text as id from jsonb_to_recordset(${rows}::jsonb) g (
        n integer, platform_id text, conversation_id text, sender_id text, sender_name text, text text, command text,
        reply_to jsonb, state text, reason text, sent_at timestamptz, files jsonb
      )
    ), seen as (
      insert into channel_seen (agent_id, channel, platform_id) select ${agentId}, ${channel}, platform_id from given
    ), messages as (
      insert into channel_messages (
        id, agent_id, channel, account_id, conversation, sender_id, sender_name, text, command, reply_to, state, reason,
        sent_at
      )
      select g.id, ${agentId}, ${channel}, ${accountId}, v.id, g.sender_id, g.sender_name, g.text, g.command, g.reply_to,
        g.state, g.reason, g.sent_at
      from given g join channel_conversations v
        on v.agent_id = ${agentId} and v.channel = ${channel} and v.conversation_id = g.conversation_id
      order by g.n
    ), files as (
      insert into channel_files (message_id, agent_id, channel, position, ref, name, media_type, kind, bytes)
      select g.id, ${agentId}, ${channel}, f.position, f.ref, f.name, f.media_type, f.kind, f.bytes
      from given g, jsonb_to_recordset(g.files) f (
        position integer, ref text, name text, media_type text, kind text, bytes bigint
      )
    )
    select n, id from given, (select pg_notify('channel_work', ${agentId}) offset 0) told
  `.execute(trx);
  return written.toSorted((a, b) => a.n - b.n).map(({ id }) => id);
}

function rowOf({ message, state, reason, command }: KeptMessage, n: number) {
  return {
    n,
    platform_id: message.id,
    conversation_id: message.conversation.id,
    sender_id: message.sender.id,
    sender_name: message.sender.name,
    text: message.text,
    command,
    reply_to: message.replyTo,
    state,
    reason,
    sent_at: Number.isFinite(message.sentAt.getTime()) ? message.sentAt : new Date(),
    files: message.files.map((file, position) => ({
      position,
      ref: file.ref,
      name: file.name.slice(0, 200),
      media_type: file.mediaType.slice(0, 200),
      kind: file.kind,
      bytes: file.bytes,
    })),
  };
}

/** Returns each conversation once, with the values of its last waiting message, or else of its last. */
function conversationsOf(kept: readonly KeptMessage[]) {
  const found = new Map<string, object>();
  for (const waits of [false, true]) {
    for (const { message, state } of kept) {
      if ((state === 'received') !== waits) continue;
      const { id, kind, title } = message.conversation;
      // Only of senders who were admitted.
      const sender = waits ? message.sender.id : null;
      found.set(id, { id, kind, title, reply_to: message.replyTo, waits, sender });
    }
  }
  return [...found.values()];
}
