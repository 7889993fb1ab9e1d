/** Deletes what is over the bounds, oldest first, in steps short enough that no writer waits long. What waits is kept. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database } from '../database/connection.ts';

const step = 1_000;
const maxAgeDays = 30;
/** Messages of a channel whose end is known. */
const maxKept = 10_000;
/** Ids of messages outlive them: platforms deliver again within days. */
const seenDays = 14;
/** A sender who asked and was neither approved nor denied. */
const pendingDays = 7;

export async function pruneChannels(database: Database): Promise<void> {
  const aged = (column: string, days: number): RawBuilder<unknown> =>
    sql`${sql.ref(column)} < clock_timestamp() - ${days} * interval '1 day'`;
  const steps = [
    sql`
      delete from channel_messages where id in (
        select id from channel_messages where state <> 'received' and ${aged('received_at', maxAgeDays)}
        order by received_at limit ${step}
      )
    `,
    sql`
      delete from channel_messages where id in (
        select id from (
          select id, row_number() over (partition by agent_id, channel order by seq desc) as n
          from channel_messages where state <> 'received'
        ) ranked where n > ${maxKept} limit ${step}
      )
    `,
    sql`
      delete from channel_answers where id in (
        select a.id from channel_answers a
        where ${aged('a.ended_at', 1)} and not exists (select from channel_messages m where m.answer_id = a.id)
        order by a.ended_at limit ${step}
      )
    `,
    sql`
      delete from channel_seen where (agent_id, channel, platform_id) in (
        select agent_id, channel, platform_id from channel_seen where ${aged('at', seenDays)} order by at limit ${step}
      )
    `,
    sql`
      delete from channel_senders where (agent_id, channel, sender_id) in (
        select agent_id, channel, sender_id from channel_senders
        where state = 'pending' and ${aged('asked_at', pendingDays)} limit ${step}
      )
    `,
    // Of strangers: a conversation with the agent keeps its place, so that it goes on where it was.
    sql`
      delete from channel_conversations where id in (
        select v.id from channel_conversations v
        where ${aged('v.last_at', maxAgeDays)} and v.claim = 0
          and not exists (select from channel_messages m where m.conversation = v.id)
          and not exists (select from channel_answers a where a.conversation = v.id)
        limit ${step}
      )
    `,
  ];
  for (const statement of steps) {
    for (let pruned = step; pruned === step;) {
      const { numAffectedRows } = await database.repeatable((db) => statement.execute(db));
      pruned = Number(numAffectedRows ?? 0n);
    }
  }
}
