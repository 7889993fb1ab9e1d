/** Says something unasked in conversations that wrote to the agent before. The channel's access must allow each now. */
import { assertChoices, maySpeakIn, platformOf, Refusal } from '@lodge/domain';
import type { ChannelAnswer, Delivery } from '@lodge/ports';
import { countQueued, holdConversation, newestConversations, queueAnswer, queueEdit } from '@lodge/store/channels';
import type { ChannelDestination, ConversationFacts } from '@lodge/store/channels';
import type { Queries, Transaction } from '@lodge/store/database';

/** Most answers that may wait in a conversation when an agent speaks unasked. */
export const maxQueued = 100;

/**
 * The reason why the agent cannot speak in a conversation: there is none, the channel is off, or its access admits nobody
 * there.
 */
export type Unsayable = 'no_conversation' | 'not_allowed';

/** Queues a text within the transaction that it belongs to. The channel stays as it is until the commit. */
export async function sayInConversation(
  trx: Transaction,
  destination: ChannelDestination,
  text: string,
): Promise<'queued' | Unsayable> {
  const found = await openConversation(trx, destination);
  if (typeof found === 'string') return found;
  await queueIn(trx, found, destination, { text, files: [] });
  return 'queued';
}

/** Queues an answer as `sayInConversation` does, with files and choices, unless `maxQueued` answers wait, and returns its id. */
export async function queueInConversation(
  trx: Transaction,
  destination: ChannelDestination,
  answer: ChannelAnswer,
): Promise<{ readonly id: string } | Unsayable | 'full'> {
  if (answer.choices !== undefined) assertChoices(answer.choices);
  const found = await openConversation(trx, destination);
  if (typeof found === 'string') return found;
  if ((await countQueued(trx, found.id, maxQueued)) >= maxQueued) return 'full';
  const id = await queueIn(trx, found, destination, answer);
  if (id === null) throw new Error('an answer without text and files');
  return { id };
}

const queueIn = (
  trx: Transaction,
  { id }: ConversationFacts,
  { agentId, channel }: ChannelDestination,
  answer: ChannelAnswer,
): Promise<string | null> => queueAnswer(trx, { conversation: id, agentId, channel, replyTo: null, answer });

/**
 * Takes the choices of a queued answer away, and replaces its last text, once. Does nothing where the platform has no buttons.
 * Returns whether the replacement is queued.
 */
export async function closeChoices(
  trx: Transaction,
  { channel, answerId }: Pick<ChannelDestination, 'channel'> & { readonly answerId: string },
  text: string,
): Promise<boolean> {
  return platformOf(channel).hasButtons && queueEdit(trx, answerId, text);
}

/** Returns null when the agent may say something there now. */
export async function whyUnsayable(trx: Transaction, destination: ChannelDestination): Promise<Unsayable | null> {
  const found = await openConversation(trx, destination);
  return typeof found === 'string' ? found : null;
}

/** Returns those of the agent's `limit` most recently written conversations in which it may say something now. */
export async function sayableConversations(
  db: Queries,
  accountId: string,
  agentId: string,
  limit: number,
): Promise<readonly ConversationFacts[]> {
  return (await newestConversations(db, accountId, agentId, limit)).filter(isOpen);
}

async function openConversation(
  trx: Transaction,
  destination: ChannelDestination,
): Promise<ConversationFacts | Unsayable> {
  const found = await holdConversation(trx, destination);
  if (found === undefined) return 'no_conversation';
  return isOpen(found) ? found : 'not_allowed';
}

function isOpen({ kind, conversationId, senderId, standing: decided, access, enabled }: ConversationFacts): boolean {
  const standing = decided === null || decided === 'pending' ? 'unknown' : decided;
  return enabled && maySpeakIn(access, { kind, conversationId, senderId, standing });
}

/** Refuses where an answer could not go now where `deliver` says. */
export async function checkDelivery(
  trx: Transaction,
  agent: { readonly accountId: string; readonly agentId: string },
  { channel, conversation: conversationId }: Delivery,
): Promise<void> {
  if (channel === null || conversationId === null) return;
  const why = await whyUnsayable(trx, { ...agent, channel, conversationId });
  if (why !== null) throw unsayable('deliver.conversation', why);
}

/** The refusal to send anything into the conversation that a field names. */
export const unsayable = (field: string, why: Unsayable): Refusal =>
  new Refusal(
    'invalid_request',
    why === 'no_conversation'
      ? `${field} is none that wrote to the agent on this channel.`
      : `${field}: the channel is off, or its access lets in nobody who is there.`,
  );
