/** Answers that wait to be sent beyond a bound of time or number. */
import type { LeaseRef } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';

type Place = Pick<LeaseRef, 'agentId' | 'channel'>;

export interface UnsentPart {
  readonly answerId: string;
  /** Whether a try before may have arrived. */
  readonly isUnclear: boolean;
}

const isLate = (hours: number): RawBuilder<unknown> =>
  sql`p.state = 'waiting' and p.due_at < clock_timestamp() - ${hours} * interval '1 hour'`;
const isIn = ({ agentId, channel }: Place): RawBuilder<unknown> =>
  sql`p.agent_id = ${agentId} and p.channel = ${channel}`;

/** Returns the channels with a part that was due so many hours ago. */
export async function channelsWithLate(db: Queries, hours: number): Promise<readonly Place[]> {
  const { rows } = await sql<Place>`
    select distinct agent_id, channel from channel_parts p where ${isLate(hours)}
  `.execute(db);
  return rows;
}

/** Returns the channels in which more answers wait. */
export async function channelsWithMore(db: Queries, answers: number): Promise<readonly Place[]> {
  const { rows } = await sql<Place>`
    select agent_id, channel from channel_parts p where p.state in ('waiting', 'sending')
    group by agent_id, channel having count(distinct p.answer_id) > ${answers}
  `.execute(db);
  return rows;
}

/** Locks the waiting parts of some answers that are so late. */
export const lockLate = (
  trx: Transaction,
  place: Place,
  hours: number,
  limit: number,
): Promise<readonly UnsentPart[]> =>
  lockUnsent(
    trx,
    sql`select p.answer_id from channel_parts p where ${isIn(place)} and ${isLate(hours)} order by p.due_at limit ${limit}`,
  );

/** Locks the waiting parts of some of the oldest answers beyond the newest so many. */
export const lockBeyond = (
  trx: Transaction,
  place: Place,
  answers: number,
  limit: number,
): Promise<readonly UnsentPart[]> =>
  lockUnsent(
    trx,
    sql`
      select answer_id from (
        select p.answer_id, p.seq from channel_parts p where ${isIn(place)} and p.state in ('waiting', 'sending')
        group by p.answer_id, p.seq order by p.seq desc offset ${answers}
      ) oldest order by seq limit ${limit}
    `,
  );

/** An answer with a part being sent is left to its sender. */
async function lockUnsent(trx: Transaction, answers: RawBuilder<unknown>): Promise<readonly UnsentPart[]> {
  const { rows } = await sql<UnsentPart>`
    select p.answer_id, p.unclear_since is not null as is_unclear from channel_parts p
    where p.state = 'waiting' and p.answer_id in (${answers})
      and not exists (select from channel_parts o where o.answer_id = p.answer_id and o.state = 'sending')
    for no key update skip locked
  `.execute(trx);
  return rows;
}
