/** Bounds waiting answers in time and number, so an absent channel does not keep answers for ever. */
import { outboundBounds, unsentEnd, unsentReasons } from '@lodge/domain';
import type { LeaseRef } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database, Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import { notify } from '../database/notifications.ts';
import { appendEnds, ended } from './message-ends.ts';
import type { Ended } from './message-ends.ts';

const step = 200;
const { waitHours, waiting } = outboundBounds;

type Place = Pick<LeaseRef, 'agentId' | 'channel'>;

/**
 * Fails waiting answers. One process does it at a time, and each transaction has one channel, because events are of one
 * account.
 */
export async function failUnsent(database: Database): Promise<void> {
  const late = sql`p.state = 'waiting' and p.due_at < clock_timestamp() - ${waitHours} * interval '1 hour'`;
  const rounds = [
    {
      places: sql<Place>`select distinct agent_id, channel from channel_parts p where ${late}`,
      which: (of: RawBuilder<unknown>) => sql`
        select p.answer_id from channel_parts p where ${of} and ${late} order by p.due_at limit ${step}
      `,
      reason: unsentReasons.late,
    },
    {
      places: sql<Place>`
        select agent_id, channel from channel_parts p where p.state in ('waiting', 'sending')
        group by agent_id, channel having count(distinct p.answer_id) > ${waiting}
      `,
      which: (of: RawBuilder<unknown>) => sql`
        select answer_id from (
          select p.answer_id, p.seq from channel_parts p where ${of} and p.state in ('waiting', 'sending')
          group by p.answer_id, p.seq order by p.seq desc offset ${waiting}
        ) oldest order by seq limit ${step}
      `,
      reason: unsentReasons.crowded,
    },
  ];
  for (const { places, which, reason } of rounds) {
    const { rows } = await database.repeatable((db) => places.execute(db));
    for (const place of rows) {
      const answers = which(sql`p.agent_id = ${place.agentId} and p.channel = ${place.channel}`);
      while (await database.transaction((trx) => failStep(trx, place, answers, reason)));
    }
  }
}

/** Fails some answers and returns whether there may be more. An answer with a part being sent is left to its sender. */
async function failStep(
  trx: Transaction,
  place: Place,
  answers: RawBuilder<unknown>,
  reason: string,
): Promise<boolean> {
  const { rows: locked } = await sql<{ ours: boolean }>`
    select pg_try_advisory_xact_lock(${advisoryLocks.channelPrune}) as ours
  `.execute(trx);
  if (!locked[0]!.ours) return false;
  const { rows } = await sql<{ answerId: string; unclear: boolean }>`
    select p.answer_id, p.unclear_since is not null as unclear from channel_parts p
    where p.state = 'waiting' and p.answer_id in (${answers})
      and not exists (select from channel_parts o where o.answer_id = p.answer_id and o.state = 'sending')
    for no key update skip locked
  `.execute(trx);
  const unclear = new Set(rows.filter((row) => row.unclear).map((row) => row.answerId));
  const clear = new Set(rows.map((row) => row.answerId).filter((id) => !unclear.has(id)));
  const failed = await endAnswers(trx, [...clear], unsentEnd(reason, false));
  const unknown = await endAnswers(trx, [...unclear], unsentEnd(reason, true));
  if (rows.length > 0) await notify(trx, place.agentId, 'channel_work');
  await appendEnds(trx, [...failed, ...unknown]);
  return rows.length > 0;
}

async function endAnswers(
  trx: Transaction,
  ids: readonly string[],
  { state, reason }: ReturnType<typeof unsentEnd>,
): Promise<readonly Ended[]> {
  if (ids.length === 0) return [];
  const ours = sql`answer_id = any(${ids}::text[])`;
  await sql`update channel_parts set state = ${state}, reason = ${reason} where ${ours} and state = 'waiting'`.execute(
    trx,
  );
  await sql`
    update channel_answers set state = ${state}, ended_at = clock_timestamp()
    where id = any(${ids}::text[]) and state = 'queued'
  `.execute(trx);
  const { rows } = await sql<Ended>`
    update channel_messages set state = ${state}, reason = ${reason}
    where ${ours} and state = 'received' returning ${ended}
  `.execute(trx);
  return rows;
}
