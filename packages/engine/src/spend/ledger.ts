import { randomUUID } from 'node:crypto';
import { noSpendDefaults } from '@lodge/domain';
import type { SpendDefaults } from '@lodge/domain';
import type { CallLedger, CallSweeper } from '@lodge/ports';
import type { Database } from '@lodge/store/database';
import { closeCall, endLeftCalls, openCall, openUnlimitedCall } from '@lodge/store/llm';
import { admitSpend } from './spend.ts';

interface LedgerOptions {
  /** No limits by default. */
  readonly spendDefaults?: SpendDefaults;
  /** Most bytes stored for the contents of one account's calls; unbounded by default. */
  readonly contentBytes?: number;
}

/** The ledger in which this process writes the calls of the host's agents. */
export function createCallLedger(
  database: Database,
  host: string,
  { spendDefaults = noSpendDefaults, contentBytes = Infinity }: LedgerOptions = {},
): CallLedger & CallSweeper {
  const holder = `${host}#${randomUUID()}`;
  return {
    // Every call waits for this, so it is one statement when no spend limit applies.
    async open(call) {
      if (await database.repeatable((db) => openUnlimitedCall(db, call, holder, spendDefaults))) return null;
      return database.transaction(async (trx) => {
        const refusal = await admitSpend(trx, call, spendDefaults);
        if (refusal === null) await openCall(trx, call, holder);
        return refusal;
      });
    },
    close: (call, content = null) => database.repeatable((db) => closeCall(db, call, content, contentBytes)),
    sweep: () => database.repeatable((db) => endLeftCalls(db, host, holder)),
  };
}
