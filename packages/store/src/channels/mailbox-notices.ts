import type { MailboxNotices } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { Changes } from '../database/notifications.ts';

/** By NOTIFY, with the address as payload. */
export const mailboxNotices = (database: Database, changes: Changes): MailboxNotices => ({
  async tell(addresses) {
    if (addresses.length === 0) return;
    await database.repeatable((db) =>
      sql`select pg_notify('mailbox_noticed', address) from unnest(${addresses}::text[]) address`.execute(db),
    );
  },
  on: (listener) => changes.on('mailbox_noticed', listener),
});
