/** Closes confirmations that nobody decided in time. Another server may do the same: each row is closed once. */
import type { Log } from '@lodge/ports';
import { expireOne } from '@lodge/store/confirmations';
import type { Database } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { Periodic } from '../periodic.ts';
import { closeMessages } from './delivering.ts';
import { factsOf, ofAgent } from './ending.ts';

const maxAtOnce = 1_000;

export const createExpiring = (database: Database, everyMs: number, log: Log): Periodic =>
  new Periodic({
    everyMs,
    log,
    failed: 'confirmations were not closed; it will be repeated',
    async round(signal) {
      for (let n = 0; n < maxAtOnce && !signal.aborted && (await expired(database)); n += 1);
    },
  });

const expired = (database: Database): Promise<boolean> =>
  database.transaction(async (trx) => {
    const row = await expireOne(trx);
    if (row === undefined) return false;
    await closeMessages(trx, row);
    await appendEvent(trx, { type: 'confirmation.expired', data: factsOf(row), ...ofAgent(row) });
    return true;
  });
