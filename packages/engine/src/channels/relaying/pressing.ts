/**
 * A press of a choice, in one transaction. A sender whom the channel's access does not admit, a message that was forwarded or
 * belongs to another conversation, and a choice that is no more change nothing. Everything else is the taker's to decide.
 */
import { decideAccess, isChoiceToken } from '@lodge/domain';
import type { ChannelName, CodeAnswer } from '@lodge/domain';
import { maxSayChars } from '@lodge/ports';
import type { LeaseRef, Press, Pressed } from '@lodge/ports';
import { lockAgent } from '@lodge/store/agents';
import { relayRows as rows, storable } from '@lodge/store/channels';
import type { Transaction } from '@lodge/store/database';

/** A sender who may write to the agent, in a conversation. */
export interface FromSender {
  readonly accountId: string;
  readonly agentId: string;
  readonly channel: ChannelName;
  /** The platform's id. */
  readonly conversationId: string;
  readonly senderId: string;
  /** The sender's own text. */
  readonly senderName: string;
}

/** A press of a choice that stands where it was sent. */
export interface Chosen extends FromSender {
  readonly answerId: string;
  readonly token: string;
  readonly label: string;
}

/** Decides what a choice leads to, within the transaction of its press. The same choice may be pressed again and again. */
export type TakeChosen = (trx: Transaction, chosen: Chosen) => Promise<Pressed>;

/**
 * Decides about a message that begins with an answer and a code, and returns the sentence to answer it with. Null: the code is
 * not known in this conversation, and the message is one for the agent.
 */
export type TakeCode = (trx: Transaction, coded: FromSender & { readonly given: CodeAnswer }) => Promise<string | null>;

/** Takes the answers of people to questions of Lodge. */
export interface Answering {
  readonly take: TakeChosen;
  readonly code: TakeCode;
}

const maxNameChars = 200;

export const notKnown: Pressed = { say: 'This question is not known any more.', close: true };
const notAdmitted: Pressed = { say: 'You may not answer here.', close: false };
const notHere: Pressed = { say: 'This question is not known here.', close: false };

export async function press(
  trx: Transaction,
  lease: LeaseRef,
  given: Press,
  take: TakeChosen = async () => notKnown,
): Promise<Pressed> {
  // The agent is locked before its channel, as its removal does.
  await lockAgent(trx, lease.agentId);
  const { access, accountId } = await rows.lockCurrent(trx, lease);
  const { agentId, channel } = lease;
  const bounded = boundedPress(given);
  const { token, sender, conversation } = bounded;
  const { standing, answerId, label } = await rows.factsOfPress(trx, lease, bounded);
  const { to } = decideAccess(access, {
    kind: conversation.kind,
    senderId: sender.id,
    conversationId: conversation.id,
    isBot: sender.isBot,
    addressed: true,
    standing: standing === null || standing === 'pending' ? 'unknown' : standing,
    lastHour: 0,
  });
  if (to !== 'pass') return notAdmitted;
  if (answerId === null || label === null || !isChoiceToken(token)) return notHere;
  const { say, close } = await take(trx, {
    accountId,
    agentId,
    channel,
    conversationId: conversation.id,
    senderId: sender.id,
    senderName: sender.name,
    answerId,
    token,
    label,
  });
  return { say: storable(say, maxSayChars), close };
}

/** The statement bounds the token and the message's id. */
const boundedPress = ({ sender, conversation, ...press }: Press): Press => ({
  ...press,
  sender: { ...sender, id: storable(sender.id, maxNameChars), name: storable(sender.name, maxNameChars) },
  conversation: { ...conversation, id: storable(conversation.id, maxNameChars) },
});
