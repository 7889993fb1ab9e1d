import type {
  CallBounds,
  ComputePrices,
  ContentBounds,
  LlmCallDetail,
  LlmCallPosition,
  LlmCallRow,
  UsageQuery,
  UsageReport,
  UsageStore,
  VmReading,
} from '@lodge/ports';
import type { Database } from '../database/connection.ts';
import { recordReading, setComputePrices } from './compute.ts';
import { forgetContents, pruneCalls } from '../llm/call-prune.ts';
import { findCall, listCalls } from '../llm/llm-calls.ts';
import { readReport } from './usage-report.ts';
import { sumUsage } from './usage-sums.ts';

/** `UsageStore` in Postgres. */
export class PostgresUsageStore implements UsageStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  report(query: UsageQuery): Promise<UsageReport | 'too_many'> {
    return this.database.repeatable((db) => readReport(db, query));
  }

  async knows(accountId: string, agentId: string): Promise<boolean> {
    const row = await this.database.repeatable((db) =>
      db
        .selectFrom('agents')
        .select('id')
        .where('id', '=', agentId)
        .where('account_id', '=', accountId)
        .executeTakeFirst(),
    );
    return row !== undefined;
  }

  calls(agentId: string, limit: number, after: LlmCallPosition | null): Promise<readonly LlmCallRow[]> {
    return this.database.repeatable((db) => listCalls(db, agentId, limit, after));
  }

  call(agentId: string, callId: string): Promise<LlmCallDetail | null> {
    return this.database.repeatable((db) => findCall(db, agentId, callId));
  }

  setComputePrices(prices: ComputePrices): Promise<void> {
    return setComputePrices(this.database, prices);
  }

  record(reading: VmReading): Promise<void> {
    return recordReading(this.database, reading);
  }

  sum(): Promise<void> {
    return sumUsage(this.database);
  }

  forgetContents(bounds: ContentBounds): Promise<void> {
    return forgetContents(this.database, bounds);
  }

  pruneCalls(bounds: CallBounds): Promise<void> {
    return pruneCalls(this.database, bounds);
  }
}
