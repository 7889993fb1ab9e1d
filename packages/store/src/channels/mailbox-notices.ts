import type { MailboxNotices } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Changes } from '../database/notifications.ts';

/** `MailboxNotices` by NOTIFY, with the address as payload. */
export class PostgresMailboxNotices implements MailboxNotices {
  private readonly database: Database;
  private readonly changes: Changes;

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  async tell(addresses: readonly string[]): Promise<void> {
    if (addresses.length === 0) return;
    await this.database.repeatable((db) =>
      sql`select pg_notify('mailbox_noticed', address) from unnest(${addresses}::text[]) address`.execute(db),
    );
  }

  on(listener: (address: string | null) => void): () => void {
    return this.changes.on('mailbox_noticed', listener);
  }
}
