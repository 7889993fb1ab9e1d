import type { AgentLogStore, LogBounds, LogEntry, LogQuery, LogSource, NewLogEntry } from '@lodge/ports';
import { sql } from 'kysely';
import type { Changes } from '../database/notifications.ts';
import type { Database } from '../database/connection.ts';
import { logPage } from './log-page.ts';
import { pruneLogs } from './log-prune.ts';
import { appendLog, sourceCodes } from './log-rows.ts';

interface Position {
  readonly executionId: string;
  readonly offset: number;
}

/** `AgentLogStore` in Postgres. */
export class PostgresAgentLogStore implements AgentLogStore {
  private readonly database: Database;
  private readonly changes: Changes;

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  append(agentId: string, entries: readonly NewLogEntry[]): Promise<void> {
    return this.database.transaction((trx) => appendLog(trx, agentId, entries));
  }

  page(query: LogQuery): Promise<readonly LogEntry[]> {
    return logPage(this.database, query);
  }

  prune(bounds: LogBounds): Promise<void> {
    return pruneLogs(this.database, bounds);
  }

  onAppend(listener: (agentId: string | null) => void): () => void {
    return this.changes.on('agent_log_changed', listener);
  }

  async position(agentId: string, source: LogSource): Promise<Position | null> {
    const row = await this.database.repeatable((db) =>
      db
        .selectFrom('agent_log_positions')
        .select(['execution_id', 'offset'])
        .where('agent_id', '=', agentId)
        .where('source', '=', sourceCodes[source])
        .executeTakeFirst(),
    );
    return row ? { executionId: row.execution_id, offset: Number(row.offset) } : null;
  }

  appendFrom(agentId: string, source: LogSource, position: Position, entries: readonly NewLogEntry[]): Promise<void> {
    return this.database.transaction(async (trx) => {
      await sql`
        insert into agent_log_positions (agent_id, source, execution_id, "offset")
        values (${agentId}, ${sourceCodes[source]}, ${position.executionId}, ${position.offset})
        on conflict (agent_id, source) do update set
          execution_id = excluded.execution_id, "offset" = excluded."offset"
      `.execute(trx);
      await appendLog(trx, agentId, entries);
    });
  }
}
