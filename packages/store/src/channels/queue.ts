/** Queues answers for sending. Answers of a conversation go one after another, and so do an answer's parts. */
import type { ChannelName, Json } from '@lodge/domain';
import type { ChannelAnswer } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import { storable, storableJson } from './text.ts';

/** Position of the first file; parts of a text are below it. */
const firstFilePosition = 1_000_000;

export interface QueuedAnswer {
  /** Our own id of the conversation. */
  readonly conversation: string;
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly replyTo: Json | null;
  readonly answer: ChannelAnswer;
}

/** Queues an answer and returns its id; null when it is empty. */
export async function queueAnswer(
  trx: Transaction,
  { conversation, agentId, channel, replyTo, answer }: QueuedAnswer,
): Promise<string | null> {
  const text = storable(answer.text);
  const parts = [
    ...(text.trim() === '' ? [] : [{ position: 0, kind: 'markdown', text }]),
    ...answer.files.map((file, index) => ({
      position: firstFilePosition + index,
      kind: 'file',
      file_name: storable(file.name),
      media_type: storable(file.mediaType),
      bytes: file.bytes,
      file_key: file.key,
    })),
  ];
  if (parts.length === 0) return null;
  const { rows } = await sql<{ id: string }>`
    with answer as (
      insert into channel_answers (conversation, reply_to, text, choices)
      values (
        ${conversation}, ${replyTo && storableJson(replyTo)}::jsonb, ${text},
        ${answer.choices ? storableJson(answer.choices) : null}::jsonb
      )
      returning id, seq
    ), parts as (
      insert into channel_parts (
        answer_id, agent_id, channel, conversation, seq, position, kind, text, file_name, media_type, bytes, file_key
      )
      select answer.id, ${agentId}, ${channel}, ${conversation}, answer.seq, p.position, p.kind, p.text, p.file_name,
        p.media_type, p.bytes, p.file_key
      from answer, jsonb_to_recordset(${JSON.stringify(parts)}::jsonb) p (
        position integer, kind text, text text, file_name text, media_type text, bytes bigint, file_key text
      )
    )
    select id from answer, pg_notify('channel_work', ${agentId})
  `.execute(trx);
  return rows[0]!.id;
}

/**
 * Queues the text that replaces a message with choices, after everything that was queued before in its conversation. Returns
 * whether there was such an answer that is not replaced yet.
 */
export async function queueEdit(trx: Transaction, answerId: string, text: string): Promise<boolean> {
  const { rows } = await sql<{ agentId: string }>`
    with edited as (
      select a.id, a.conversation, v.agent_id, v.channel
      from channel_answers a join channel_conversations v on v.id = a.conversation
      where a.id = ${answerId} and a.choices is not null
        and not exists (select from channel_answers e where e.edits = a.id)
      for no key update of a
    ), answer as (
      insert into channel_answers (conversation, text, edits)
      select conversation, ${storable(text)}, id from edited returning id, seq
    ), parts as (
      insert into channel_parts (answer_id, agent_id, channel, conversation, seq, position, kind, text)
      select answer.id, edited.agent_id, edited.channel, edited.conversation, answer.seq, 0, 'edit', ${storable(text)}
      from answer, edited
    )
    select agent_id from edited, pg_notify('channel_work', agent_id)
  `.execute(trx);
  return rows.length > 0;
}
