/** Ends messages that waited in vain, and deletes old ones in steps short enough that no writer waits long. */
import type { TidyBounds } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database } from '../database/connection.ts';
import { appendEvent } from '../events/append.ts';
import { endedColumns, eventOf } from './ending.ts';
import type { EndedMessage } from './ending.ts';

const step = 1_000;
const maxExpired = 1_000;

const expiredWords = (maxWaitMs: number): string =>
  `The agent did not come to it within ${Math.round(maxWaitMs / 3_600_000)} hours.`;

export async function tidyMessages(database: Database, { maxWaitMs, kept, maxAgeMs }: TidyBounds): Promise<void> {
  for (let n = 0; n < maxExpired && (await expireOne(database, maxWaitMs)); n += 1);
  const steps: readonly RawBuilder<unknown>[] = [
    sql`
      delete from hook_messages where id in (
        select id from hook_messages where ended_at < clock_timestamp() - ${maxAgeMs} * interval '1 millisecond'
        order by ended_at limit ${step}
      )
    `,
    sql`
      delete from hook_messages where id in (
        select old.id from hooks h cross join lateral (
          select m.id from hook_messages m where m.hook_id = h.id and m.status is not null
          order by m.seq desc offset ${kept} limit ${step}
        ) old limit ${step}
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

/** One in a transaction: its event takes its turn among those of the account. */
function expireOne(database: Database, maxWaitMs: number): Promise<boolean> {
  const reason = expiredWords(maxWaitMs);
  return database.transaction(async (trx) => {
    const { rows } = await sql<EndedMessage>`
      update hook_messages r set status = 'failed', ended_at = clock_timestamp(), text = null, reason = ${reason}
      from hooks h
      where h.id = r.hook_id and r.id = (
        select w.id from hook_messages w
        where w.status is null and w.attempts = 0 and w.claim_until is null
          and w.due_at < clock_timestamp() - ${maxWaitMs} * interval '1 millisecond'
        order by w.due_at limit 1 for no key update skip locked
      )
      returning ${endedColumns}
    `.execute(trx);
    const [message] = rows;
    if (message === undefined) return false;
    await appendEvent(trx, eventOf(message, { outcome: 'failed', reason, answer: null }));
    return true;
  });
}
