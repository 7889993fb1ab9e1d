/** Messages in conversations that ask about a confirmation. */
import type { ChannelName } from '@lodge/domain';
import type { Insertable, Selectable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { ChannelAnswers, ConfirmationMessages } from '../database/tables.ts';

export async function insertConfirmationMessage(
  trx: Transaction,
  message: Insertable<ConfirmationMessages>,
): Promise<void> {
  // A conversation that is named twice is asked once.
  await trx
    .insertInto('confirmationMessages')
    .values(message)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** A message that still stands, with its text. */
export type AskingMessage = Pick<Selectable<ConfirmationMessages>, 'channel'> &
  Pick<Selectable<ChannelAnswers>, 'text'> & { readonly answerId: string };

export const askingMessages = (trx: Transaction, confirmationId: string): Promise<readonly AskingMessage[]> =>
  trx
    .selectFrom('confirmationMessages as m')
    .innerJoin('channelAnswers as a', 'a.id', 'm.answerId')
    .select(['m.channel', 'a.id as answerId', 'a.text'])
    .where('m.confirmationId', '=', confirmationId)
    .execute();

/** Whether this answer asked about the confirmation. */
export async function wasAskedBy(trx: Transaction, confirmationId: string, answerId: string): Promise<boolean> {
  const found = await trx
    .selectFrom('confirmationMessages')
    .select('confirmationId')
    .where('confirmationId', '=', confirmationId)
    .where('answerId', '=', answerId)
    .executeTakeFirst();
  return found !== undefined;
}

interface Coded {
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly conversationId: string;
  readonly code: string;
}

/** The confirmation that was asked about in this conversation with this code; an open one before others. */
export async function confirmationOfCode(trx: Transaction, coded: Coded): Promise<string | undefined> {
  const found = await trx
    .selectFrom('confirmationMessages as m')
    .innerJoin('confirmations as c', 'c.id', 'm.confirmationId')
    .select('c.id')
    .where('m.agentId', '=', coded.agentId)
    .where('m.channel', '=', coded.channel)
    .where('m.conversationId', '=', coded.conversationId)
    .where('m.code', '=', coded.code)
    .orderBy((eb) => eb('c.status', '=', 'pending'), 'desc')
    .orderBy('c.seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return found?.id;
}
