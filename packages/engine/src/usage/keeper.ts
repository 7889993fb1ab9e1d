/**
 * Does the work beside the calls: updates sums, ends calls whose server died, and keeps rows and contents within their
 * bounds.
 */
import type { CallBounds, CallSweeper, ContentBounds, Log } from '@lodge/ports';
import type { Database } from '@lodge/store/database';
import { forgetContents, pruneCalls, sumUsage } from '@lodge/store/usage';
import { Periodic } from '../periodic.ts';

export interface UsageKeeperDeps {
  readonly database: Database;
  readonly ledger: CallSweeper;
  readonly log: Log;
  readonly contents: ContentBounds;
  readonly calls: CallBounds;
}

export interface UsageKeeper {
  /** Ends the leftovers of an earlier process, and begins. Rejects when the database does not answer. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const sumEveryMs = 5_000;
const sweepEveryMs = 60_000;
const forgetEveryMs = 10_000;
const pruneEveryMs = 10 * 60_000;

export function createUsageKeeper({ database, ledger, log, contents, calls }: UsageKeeperDeps): UsageKeeper {
  const sweep = async (): Promise<void> => {
    const ended = await ledger.sweep();
    if (ended > 0) log.warn({ calls: ended }, 'model calls of a server that died are recorded by their estimates');
  };
  const rounds = [
    new Periodic({
      everyMs: sumEveryMs,
      log,
      failed: 'usage not summed; it will be repeated',
      round: () => sumUsage(database),
    }),
    new Periodic({ everyMs: sweepEveryMs, log, failed: 'open calls not looked at; it will be repeated', round: sweep }),
    new Periodic({
      everyMs: forgetEveryMs,
      log,
      failed: 'old contents of model calls not deleted; it will be repeated',
      round: () => database.repeatable((db) => forgetContents(db, contents)),
    }),
    new Periodic({
      everyMs: pruneEveryMs,
      log,
      failed: 'old rows of model calls not deleted; it will be repeated',
      round: () => pruneCalls(database, calls),
    }),
  ];
  return {
    async start() {
      await sweep();
      for (const part of rounds) part.start();
    },
    async stop() {
      await Promise.all(rounds.map((part) => part.stop()));
    },
  };
}
