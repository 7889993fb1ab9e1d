import type { TidyBounds } from '@lodge/ports';
import { sql } from 'kysely';
import { tidyWork } from '../work/tidy.ts';
import type { ExpireOne } from '../work/tidy.ts';
import type { Database } from '../database/connection.ts';
import { appendEvent } from '../events/append.ts';
import { endedColumns, eventOf } from './ending.ts';
import type { EndedMessage } from './ending.ts';

/** Fails messages that waited in vain. */
export function tidyMessages(database: Database, bounds: TidyBounds): Promise<void> {
  const reason = `The agent did not come to it within ${Math.round(bounds.maxWaitMs / 3_600_000)} hours.`;
  const of = { kind: 'message', owners: 'hooks', ownerId: 'hook_id', expireOne: failOne(reason) } as const;
  return tidyWork(database, of, bounds);
}

const failOne =
  (reason: string): ExpireOne =>
  async (trx, vain) => {
    const { rows } = await sql<EndedMessage>`
      with ${vain}
      update hook_messages r set status = 'failed', ended_at = clock_timestamp(), text = null, reason = ${reason}
      from ended w, hooks h where r.id = w.id and h.id = r.hook_id
      returning ${endedColumns}
    `.execute(trx);
    const [message] = rows;
    if (message === undefined) return false;
    await appendEvent(trx, eventOf(message, { outcome: 'failed', reason, answer: null }));
    return true;
  };
