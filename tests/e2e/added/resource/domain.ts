/** The domain's room. */
import { told } from '../../../../packages/domain/src/events/kind.ts';
import type { ErrorKind } from '@lodge/domain';

export const maxNotes = 3;

export const noteErrors = {
  note_not_found: { status: 404, meaning: 'The agent has no such note.' },
} as const satisfies Readonly<Record<string, ErrorKind>>;

type Of = { readonly note_id: string };

export const noteEvents = {
  'note.created': told<Of>('A note was made.'),
  'note.removed': told<Of>('A note was deleted.'),
} as const;
