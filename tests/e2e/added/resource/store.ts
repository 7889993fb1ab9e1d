/** The store's room. The type of its table stands here, where a real one is generated. */
import type { Generated, Selectable } from 'kysely';
import type { Queries, Transaction } from '@lodge/store/database';
import type { StoredResource } from '../../../../packages/store/src/database/stored-resource.ts';

export const noteContext = (id: string): string => `note/${id}/text`;

export const noteTables = {
  topics: ['note_written'],
  sealed: [{ table: 'notes', column: 'text_sealed', key: ['id'], context: noteContext }],
  columns: {},
} as const satisfies StoredResource;

type Tables = {
  notes: { id: string; accountId: string; agentId: string; textSealed: string; createdAt: Generated<Date> };
};

export type NoteRow = Selectable<Tables['notes']>;

export const notesOf = (db: Queries, agentId: string): Promise<readonly NoteRow[]> =>
  db.withTables<Tables>().selectFrom('notes').selectAll().where('agentId', '=', agentId).orderBy('createdAt').execute();

export const insertNote = (trx: Transaction, note: Omit<NoteRow, 'createdAt'>): Promise<NoteRow> =>
  trx.withTables<Tables>().insertInto('notes').values(note).returningAll().executeTakeFirstOrThrow();

export const deleteNote = (trx: Transaction, agentId: string, id: string): Promise<NoteRow | undefined> =>
  trx
    .withTables<Tables>()
    .deleteFrom('notes')
    .where('agentId', '=', agentId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
