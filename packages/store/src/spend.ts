import type { CallRefusal, OpenCall } from '@lodge/engine/ports';
import type { Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/** Whether a call may go out; called in the transaction that opens it. Nobody has a limit yet. */
export async function admitSpend(_trx: Transaction<Schema>, _call: OpenCall): Promise<CallRefusal | null> {
  return null;
}
