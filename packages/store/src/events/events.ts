import type { EventStore } from '@lodge/ports';
import type { Database } from '../database/database.ts';
import type { Changes } from '../database/notifications.ts';
import { auditPage } from './audit.ts';
import { eventPage } from './page.ts';

export const eventsIn = (database: Database, changes: Changes): EventStore => ({
  page: (query) => database.repeatable((db) => eventPage(db, query)),
  audit: (query) => database.repeatable((db) => auditPage(db, query)),
  onAppend: (listener) => changes.on('event_appended', listener),
});
