import type { ChangeNote } from '@lodge/engine/ports';
import type { Transaction } from 'kysely';
import { writeAudit } from './audit.ts';
import { markEffective } from './idempotency.ts';
import type { Schema } from './schema.ts';

/** Last in a transaction: writers of one account's audit events wait for one another. */
export async function writeNote(trx: Transaction<Schema>, note: ChangeNote | undefined): Promise<void> {
  if (note === undefined) return;
  const { audit, idempotencyKey } = note;
  if (idempotencyKey !== undefined) await markEffective(trx, audit.accountId, idempotencyKey);
  await writeAudit(trx, audit);
}
