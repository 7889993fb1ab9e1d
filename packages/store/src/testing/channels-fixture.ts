/* oxlint-disable no-restricted-imports -- only tests import this file */
import type { ActorNote, ChangeNote, ChannelAnswer } from '@lodge/ports';
import { queueInConversation, sayInConversation } from '../../../engine/src/channels/conversations.ts';
import { retryMessage } from '../../../engine/src/channels/messages.ts';
import { storeChannel } from '../../../engine/src/channels/put.ts';
import { messagePage } from '../channels/index.ts';
import type { ChannelChange, ChannelDestination, MessageQuery } from '../channels/index.ts';
import type { Store } from '../store.ts';

/** The owner's acts on channels, as the engine carries them out. */
export const channelsFixture = ({ database, changes }: Pick<Store, 'database' | 'changes'>) => ({
  put: (change: ChannelChange, note?: ChangeNote) => storeChannel(database, change, note),
  messages: (query: MessageQuery) => database.repeatable((db) => messagePage(db, query)),
  retry: (accountId: string, agentId: string, messageId: string, note?: ActorNote) =>
    retryMessage(database, { accountId, agentId, messageId }, note),
  say: (destination: ChannelDestination, text: string) =>
    database.transaction((trx) => sayInConversation(trx, destination, text)),
  queue: (destination: ChannelDestination, answer: ChannelAnswer) =>
    database.transaction((trx) => queueInConversation(trx, destination, answer)),
  onChange: (listener: (agentId: string | null) => void) => changes.on('channel_changed', listener),
});
