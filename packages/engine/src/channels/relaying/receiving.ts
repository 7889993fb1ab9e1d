/**
 * Messages of a connection, in one transaction: the new ones, each as the channel's access decides (`InboundBatch`), and the
 * connection's position. The channel's row is locked meanwhile.
 */
import { randomInt } from 'node:crypto';
import { codeAnswerIn, InboundBatch, makePairingCode, pairingText } from '@lodge/domain';
import type { ChannelAccess, Json } from '@lodge/domain';
import { maxInboundChars, maxInboundFiles } from '@lodge/ports';
import type { InboundMessage, LeaseRef, NewEvent } from '@lodge/ports';
import { lockAgent } from '@lodge/store/agents';
import { queueAnswer, relayRows as rows, setAnswer, setWaiting, storable } from '@lodge/store/channels';
import type { Transaction } from '@lodge/store/database';
import { appendEvents } from '@lodge/store/events';
import type { TakeCode } from './pressing.ts';

const maxBatch = 100;
const maxNameChars = 200;

interface Receiving {
  /** The connection's position. */
  readonly cursor?: Json | undefined;
  readonly code?: TakeCode | undefined;
}

export async function receive(
  trx: Transaction,
  lease: LeaseRef,
  given: readonly InboundMessage[],
  { cursor, code }: Receiving = {},
): Promise<void> {
  if (given.length > maxBatch) throw new RangeError(`more than ${maxBatch} messages at once`);
  // A decision locks the agent, which comes before its channel.
  if (code && given.some(({ text }) => codeAnswerIn(text) !== null)) await lockAgent(trx, lease.agentId);
  const { access, accountId } = await rows.lockCurrent(trx, lease);
  const messages = given.map(bounded);
  const batch = messages.length === 0 ? null : await decided(trx, lease, access, messages);
  const events = batch === null ? [] : await keep(trx, lease, accountId, batch, code);
  const came = { hasNew: batch?.hasNew ?? false, refused: batch?.counted.length ?? 0 };
  await rows.noteInbound(trx, lease, cursor, came);
  await appendEvents(trx, events);
}

/** Whether `receive` would let the message become a turn under the present access. */
export async function admits(
  trx: Transaction,
  lease: LeaseRef,
  { conversation, sender, addressed }: Pick<InboundMessage, 'conversation' | 'sender' | 'addressed'>,
): Promise<boolean> {
  const { access } = await rows.lockCurrent(trx, lease);
  const none = { id: '', text: '', sentAt: new Date(0), files: [], replyTo: null };
  const message = bounded({ ...none, conversation, sender, addressed });
  return new InboundBatch(access, await rows.knownOfSenders(trx, lease, access, [message])).lets(message);
}

function bounded(message: InboundMessage): InboundMessage {
  const { conversation, sender } = message;
  return {
    ...message,
    id: storable(message.id, maxNameChars),
    conversation: {
      ...conversation,
      id: storable(conversation.id, maxNameChars),
      title: conversation.title === null ? null : storable(conversation.title, maxNameChars),
    },
    sender: { ...sender, id: storable(sender.id, maxNameChars), name: storable(sender.name, maxNameChars) },
    text: storable(message.text, maxInboundChars),
    files: message.files.slice(0, maxInboundFiles),
  };
}

async function decided(
  trx: Transaction,
  lease: LeaseRef,
  access: ChannelAccess,
  messages: readonly InboundMessage[],
): Promise<InboundBatch<InboundMessage>> {
  const known = await rows.knownOfSenders(trx, lease, access, messages);
  const batch = new InboundBatch<InboundMessage>(access, known);
  for (const message of messages) batch.add(message);
  return batch;
}

/** Asks who is to be asked, writes what is kept, and returns the events. */
async function keep(
  trx: Transaction,
  lease: LeaseRef,
  accountId: string,
  batch: InboundBatch<InboundMessage>,
  code: TakeCode | undefined,
): Promise<readonly NewEvent[]> {
  const { agentId, channel } = lease;
  const of = { accountId, agentId, by: null };
  const events: NewEvent[] = [];
  for (const message of batch.asking.values()) {
    const code = await ask(trx, lease, accountId, message);
    if (code === undefined) continue;
    const { id, name } = message.sender;
    events.push({ type: 'channel.access_requested', data: { channel, sender_id: id, sender_name: name, code }, ...of });
  }
  const ids = await rows.keepMessages(trx, lease, accountId, batch.kept);
  for (const [index, { state, message }] of batch.kept.entries()) {
    if (state !== 'received') continue;
    const data = { channel, message_id: ids[index]!, conversation: message.conversation.id };
    events.push({ type: 'message.received', data, ...of });
    if (code) await answerCode(trx, lease, { accountId, id: ids[index]!, message, code });
  }
  await rows.countRefused(trx, lease, batch.counted);
  return events;
}

interface Coded {
  readonly accountId: string;
  readonly id: string;
  readonly message: InboundMessage;
  readonly code: TakeCode;
}

/** A message that answers a question of Lodge makes no turn, and ends with the sentence that it is answered with. */
async function answerCode(
  trx: Transaction,
  lease: LeaseRef,
  { accountId, id, message: { text, sender, conversation: at, replyTo }, code }: Coded,
): Promise<void> {
  const given = codeAnswerIn(text);
  if (given === null) return;
  const { agentId, channel } = lease;
  const from = { accountId, agentId, channel, conversationId: at.id, senderId: sender.id, senderName: sender.name };
  const say = await code(trx, { ...from, given });
  if (say === null) return;
  const conversation = await rows.conversationOf(trx, lease, accountId, at);
  const answerId = await queueAnswer(trx, {
    conversation,
    agentId,
    channel,
    replyTo,
    answer: { text: say, files: [] },
  });
  await setAnswer(trx, id, answerId);
  await setWaiting(trx, conversation);
}

/** Sends a sender the code, once an hour. Undefined when it was sent already, or when there is no place for a new sender. */
async function ask(
  trx: Transaction,
  lease: LeaseRef,
  accountId: string,
  message: InboundMessage,
): Promise<string | undefined> {
  await rows.giveWay(trx, lease, message);
  const code = await rows.insertPending(trx, lease, message.sender, makePairingCode(randomInt));
  if (code === undefined) return undefined;
  const { agentId, channel } = lease;
  const conversation = await rows.conversationOf(trx, lease, accountId, message.conversation);
  const answer = { text: pairingText(code), files: [] };
  await queueAnswer(trx, { conversation, agentId, channel, replyTo: message.replyTo, answer });
  return code;
}
