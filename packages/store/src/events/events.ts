import { agentIdPattern } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import type { By, EndedOperation, EventBounds, EventQuery, EventRow, EventStore } from '@lodge/ports';
import type { Changes } from '../database/notifications.ts';
import type { Database } from '../database/connection.ts';
import { appendEvent } from './append.ts';
import type { EndedOperations } from './ended-operations.ts';
import { eventPage } from './page.ts';
import { pruneEvents } from './prune.ts';
import { toEventRow } from './rows.ts';

/** `EventStore` in Postgres. */
export class PostgresEventStore implements EventStore {
  private readonly database: Database;
  private readonly changes: Changes;
  private readonly ended: EndedOperations;

  constructor(database: Database, changes: Changes, ended: EndedOperations) {
    this.database = database;
    this.changes = changes;
    this.ended = ended;
  }

  async append(agentId: string, event: Happening, by?: By): Promise<void> {
    if (!agentIdPattern.test(agentId)) return;
    await this.database.transaction(async (trx) => {
      const agent = await trx
        .selectFrom('agents')
        .select('account_id')
        .where('id', '=', agentId)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      if (agent) await appendEvent(trx, { ...event, accountId: agent.account_id, agentId, by: by ?? null });
    });
  }

  async page(query: EventQuery): Promise<readonly EventRow[]> {
    return (await eventPage(this.database, query)).map(toEventRow);
  }

  onAppend(listener: (accountId: string | null) => void): () => void {
    return this.changes.on('event_appended', listener);
  }

  onOperationEnded(listener: (operation: EndedOperation) => void): () => void {
    return this.ended.on(listener);
  }

  prune(bounds: EventBounds): Promise<void> {
    return pruneEvents(this.database, bounds);
  }
}
