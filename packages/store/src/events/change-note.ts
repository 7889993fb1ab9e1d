import type { Happening } from '@lodge/domain';
import type { ActorNote, ChangeNote, NewEvent } from '@lodge/ports';
import type { Transaction } from '../database/database.ts';
import { markEffective } from '../http/idempotency.ts';
import { appendEvent } from './append.ts';

/**
 * Writes the event of a change of an agent or an account: the note's, or else `own` when Lodge acted by itself. Call it last in a
 * transaction.
 */
export async function writeNote(
  trx: Transaction,
  {
    accountId,
    agentId,
    target,
  }: { readonly accountId: string; readonly agentId: string | null; readonly target?: NonNullable<NewEvent['target']> },
  own: Happening,
  note: ChangeNote | ActorNote | undefined,
): Promise<void> {
  const { by = null, idempotencyKey } = note ?? {};
  const event = note !== undefined && 'event' in note ? note.event : own;
  if (idempotencyKey !== undefined) await markEffective(trx, accountId, idempotencyKey);
  await appendEvent(trx, { ...event, accountId, agentId, by, ...(target && { target }) });
}
