import type { UsageStore } from '@lodge/ports';
import type { Database } from '../database/database.ts';
import { findCall, listCalls } from '../llm/llm-calls.ts';
import { readReport } from './usage-report.ts';

export const usageIn = (database: Database): UsageStore => ({
  report: (query) => database.repeatable((db) => readReport(db, query)),
  knows: (accountId, agentId) =>
    database.repeatable(async (db) => {
      const known = db.selectFrom('agents').select('id').where('id', '=', agentId).where('accountId', '=', accountId);
      return (await known.executeTakeFirst()) !== undefined;
    }),
  calls: (agentId, limit, after) => database.repeatable((db) => listCalls(db, agentId, limit, after)),
  call: (agentId, callId) => database.repeatable((db) => findCall(db, agentId, callId)),
});
