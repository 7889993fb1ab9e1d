/* oxlint-disable no-restricted-imports -- only tests import this file */
import { Refusal } from '@lodge/domain';
import type { ActorNote, ChangeNote, ChannelAnswer } from '@lodge/ports';
import * as conversations from '../../../engine/src/channels/conversations.ts';
import { retryMessage } from '../../../engine/src/channels/messages.ts';
import { storeChannel } from '../../../engine/src/channels/put.ts';
import { messagePage } from '../channels/index.ts';
import type { ChannelChange, ChannelDestination, MessageQuery } from '../channels/index.ts';
import type { Store } from '../store.ts';

/** The owner's acts on channels, as the engine carries them out, with the names of refusals in place of errors. */
export const channelsFixture = ({ database, changes }: Pick<Store, 'database' | 'changes'>) => ({
  put: (change: ChannelChange, note?: ChangeNote) =>
    named(storeChannel(database, change, note), { channel_conflict: 'conflict', agent_not_found: 'no_agent' } as const),
  messages: (query: MessageQuery) => database.repeatable((db) => messagePage(db, query)),
  retry: (accountId: string, agentId: string, messageId: string, note?: ActorNote) =>
    named(retryMessage(database, { accountId, agentId, messageId }, note), {
      message_not_retryable: 'not_retryable',
      message_not_found: null,
    } as const),
  say: (destination: ChannelDestination, text: string) =>
    database.transaction((trx) => conversations.sayInConversation(trx, destination, text)),
  queue: (destination: ChannelDestination, answer: ChannelAnswer) =>
    database.transaction((trx) => conversations.queueInConversation(trx, destination, answer)),
  whyUnsayable: (destination: ChannelDestination) =>
    database.transaction((trx) => conversations.whyUnsayable(trx, destination)),
  sayable: (accountId: string, agentId: string, limit: number) =>
    database.repeatable((db) => conversations.sayableConversations(db, accountId, agentId, limit)),
  onChange: (listener: (agentId: string | null) => void) => changes.on('channel_changed', listener),
});

async function named<Result, Name>(
  act: Promise<Result>,
  names: Readonly<Record<string, Name>>,
): Promise<Result | Name> {
  try {
    return await act;
  } catch (error) {
    if (error instanceof Refusal && error.code in names) return names[error.code]!;
    throw error;
  }
}
