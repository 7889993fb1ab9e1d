/** The engine's room. */
import { randomInt } from 'node:crypto';
import { Refusal, makeAgentId } from '@lodge/domain';
import type { ErrorCode, Happening } from '@lodge/domain';
import type { Agents } from '@lodge/engine';
import type { ActorNote, SecretBox } from '@lodge/ports';
import { lockAgent } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { maxNotes } from './domain.ts';
import { deleteNote, insertNote, noteContext, notesOf } from './store.ts';

export interface NotesDeps {
  readonly database: Database;
  readonly agents: Pick<Agents, 'get'>;
  readonly secrets: SecretBox;
}

export interface Place {
  readonly accountId: string;
  readonly agentId: string;
}

export type Notes = ReturnType<typeof createNotes>;

export const createNotes = ({ database, agents, secrets }: NotesDeps) => ({
  async list({ accountId, agentId }: Place) {
    await agents.get(accountId, agentId);
    const rows = await database.repeatable((db) => notesOf(db, agentId));
    return rows.map((row) => ({ ...row, text: secrets.open(row.textSealed, noteContext(row.id)) }));
  },
  async create(place: Place, text: string, by: ActorNote) {
    await agents.get(place.accountId, place.agentId);
    return database.transaction(async (trx) => {
      await lockAgent(trx, place.agentId);
      const present = await notesOf(trx, place.agentId);
      if (present.length >= maxNotes) throw new Refusal('quota_exceeded', `An agent may have ${maxNotes} notes.`);
      const id = makeAgentId(randomInt);
      const row = await insertNote(trx, { ...place, id, textSealed: secrets.seal(text, noteContext(id)) });
      await writeNote(trx, place, happened('note.created', id), by);
      return { ...row, text };
    });
  },
  async remove(place: Place, id: string, by: ActorNote) {
    await agents.get(place.accountId, place.agentId);
    await database.transaction(async (trx) => {
      if ((await deleteNote(trx, place.agentId, id)) === undefined) {
        throw new Refusal('note_not_found' as ErrorCode, 'The agent has no such note.');
      }
      await writeNote(trx, place, happened('note.removed', id), by);
    });
  },
});

// The checker reads the product without the edits.
const happened = (type: string, id: string) => ({ type, data: { note_id: id } }) as unknown as Happening;
