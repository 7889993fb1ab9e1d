/**
 * Decides which messages of a platform become turns of their agent, and which are refused, kept or only counted. Storage for
 * strangers is bounded: further refused messages are counted.
 */
import { decideAccess } from './access.ts';
import type { AccessDecision, ChannelAccess, RefusedReason } from './access.ts';
import type { ConversationKind } from './channel.ts';
import { commandIn } from './commands.ts';

export const inboundBounds = {
  /** Most messages of a channel that wait for a turn. */
  waiting: 2_000,
  /** Most refused messages kept of a channel in a day. */
  refusedDaily: 200,
  /** Most refused messages kept of one sender in an hour. */
  refusedOfSenderHourly: 5,
  /** Characters of a refused message that are kept, enough for the owner to recognise it. */
  refusedChars: 1_000,
  /** A file that is missing for this long is given up, and its message no longer waits for it. */
  fileWaitMs: 900_000,
} as const;

interface Inbound {
  /** The platform's id. */
  readonly id: string;
  readonly conversation: { readonly id: string; readonly kind: ConversationKind };
  readonly sender: { readonly id: string; readonly isBot: boolean };
  readonly addressed: boolean;
  readonly text: string;
  readonly files: readonly unknown[];
  /** Whether its text was not fetched, because its sender was not let in when it came. */
  readonly isUnread?: boolean;
}

/** Facts about a channel and the senders of a batch, from before it. */
export interface KnownOfSenders {
  /** Ids of messages that came before. */
  readonly seen: readonly string[];
  readonly senders: readonly { readonly senderId: string; readonly state: 'pending' | 'approved' | 'denied' }[];
  /** Messages within the last hour. */
  readonly hours: readonly { readonly senderId: string; readonly passed: number; readonly refused: number }[];
  readonly waiting: number;
  /** Refused messages within a day. */
  readonly refused: number;
}

interface DecidedMessage<Message> {
  readonly message: Message;
  readonly state: 'received' | 'refused';
  readonly reason: string | null;
  readonly command: ReturnType<typeof commandIn>;
}

/** Decides about one message after another. Each decision includes the earlier ones. */
export class InboundBatch<Message extends Inbound> {
  readonly kept: DecidedMessage<Message>[] = [];
  /** The first message of each sender who is to receive a code. */
  readonly asking = new Map<string, Message>();
  /** Senders of refused messages that are not kept. */
  readonly counted: string[] = [];
  hasNew = false;
  private readonly access: ChannelAccess;
  private readonly seen: Set<string>;
  private readonly standing: Map<string, 'pending' | 'approved' | 'denied'>;
  private readonly hours: Map<string, { passed: number; refused: number }>;
  private waiting: number;
  private refused: number;

  constructor(access: ChannelAccess, known: KnownOfSenders) {
    this.access = access;
    this.seen = new Set(known.seen);
    this.standing = new Map(known.senders.map(({ senderId, state }) => [senderId, state]));
    this.hours = new Map(known.hours.map(({ senderId, passed, refused }) => [senderId, { passed, refused }]));
    this.waiting = known.waiting;
    this.refused = known.refused;
  }

  add(message: Message): void {
    if (this.seen.has(message.id)) return;
    this.seen.add(message.id);
    const hour = this.hourOf(message.sender.id);
    const decision = this.decide(message, hour.passed);
    if (decision.to === 'ignore') return;
    this.hasNew = true;
    if (decision.to !== 'pass') {
      if (decision.to === 'pair' && !this.asking.has(message.sender.id)) this.asking.set(message.sender.id, message);
      this.refuse(message, decision.to === 'pair' ? unpaired : refusals[decision.reason]);
    } else if (message.isUnread) {
      this.refuse(message, late);
    } else if (this.waiting >= inboundBounds.waiting) {
      this.refuse(message, `More than ${inboundBounds.waiting} messages wait already.`);
    } else {
      this.waiting += 1;
      hour.passed += 1;
      this.kept.push({ message, state: 'received', reason: null, command: commandIn(message.text) });
    }
  }

  lets(message: Message): boolean {
    return (
      this.decide(message, this.hourOf(message.sender.id).passed).to === 'pass' && this.waiting < inboundBounds.waiting
    );
  }

  private decide(message: Message, lastHour: number): AccessDecision {
    const { conversation, sender, addressed } = message;
    const standing = this.standing.get(sender.id);
    return decideAccess(this.access, {
      kind: conversation.kind,
      senderId: sender.id,
      conversationId: conversation.id,
      isBot: sender.isBot,
      addressed,
      standing: standing === undefined || standing === 'pending' ? 'unknown' : standing,
      lastHour,
    });
  }

  private refuse(message: Message, reason: string): void {
    const hour = this.hourOf(message.sender.id);
    if (this.refused >= inboundBounds.refusedDaily || hour.refused >= inboundBounds.refusedOfSenderHourly) {
      this.counted.push(message.sender.id);
      return;
    }
    this.refused += 1;
    hour.refused += 1;
    const short = { ...message, text: message.text.slice(0, inboundBounds.refusedChars), files: [] };
    this.kept.push({ message: short, state: 'refused', reason, command: null });
  }

  private hourOf(senderId: string): { passed: number; refused: number } {
    const hour = this.hours.get(senderId) ?? { passed: 0, refused: 0 };
    this.hours.set(senderId, hour);
    return hour;
  }
}

const unpaired = 'The sender is not approved yet.';
const late = 'The sender was let in after the message came, and its text was not fetched.';
const refusals: Readonly<Record<RefusedReason, string>> = {
  not_allowed: 'The sender is not among those who may write.',
  denied: 'The sender was denied.',
  sender_limit: 'The sender has written as many messages as are taken within an hour.',
};
