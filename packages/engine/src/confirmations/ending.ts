import type { ConfirmationRow } from '@lodge/store/confirmations';
import type { Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';

export const factsOf = ({ id, kind, subject }: ConfirmationRow) =>
  ({ confirmation_id: id, kind, on: subject }) as const;

export const ofAgent = ({ accountId, agentId }: ConfirmationRow) => ({ accountId, agentId, by: null }) as const;

/** The event of a call that came to its end. */
export const writeEnd = (trx: Transaction, row: ConfirmationRow): Promise<void> =>
  appendEvent(trx, { type: 'confirmation.done', data: { ...factsOf(row), status: row.status }, ...ofAgent(row) });
