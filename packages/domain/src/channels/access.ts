/** The one place that decides who may talk to an agent on a channel. */
import type { ConversationKind } from './channel.ts';

/**
 * The mode of a channel's access.
 *
 * - `pairing`: an unknown sender gets a code, and the channel's owner approves it.
 * - `allowlist`: only senders in `allowFrom`.
 * - `open`: anybody.
 * - `disabled`: nobody.
 */
export const accessModes = ['pairing', 'allowlist', 'open', 'disabled'] as const;
export type AccessMode = (typeof accessModes)[number];

export const groupModes = ['allowlist', 'open', 'disabled'] as const;
export type GroupMode = (typeof groupModes)[number];

export interface ChannelAccess {
  /** The mode of direct conversations. */
  readonly mode: AccessMode;
  /** The platform's ids of senders; approved senders are stored elsewhere. */
  readonly allowFrom: readonly string[];
  /** Access in groups. `allowlist` admits senders who may write directly, and the conversations in `groups.allow`. */
  readonly groups: {
    readonly mode: GroupMode;
    /** The platform's ids of conversations. The id before a `/` covers its threads too. */
    readonly allow: readonly string[];
    /** With false the agent also answers messages that do not address it. */
    readonly requireMention: boolean;
  };
  /** Messages of one sender in an hour that become turns; further ones are refused. */
  readonly perSenderHourly: number;
}

export const defaultAccess: ChannelAccess = {
  mode: 'pairing',
  allowFrom: [],
  groups: { mode: 'allowlist', allow: [], requireMention: true },
  perSenderHourly: 60,
};

export type SenderStanding = 'unknown' | 'approved' | 'denied';

export interface Approach {
  readonly kind: ConversationKind;
  readonly senderId: string;
  readonly conversationId: string;
  /** Whether the sender is a bot, or the agent itself. */
  readonly isBot: boolean;
  /** Whether the message was written directly, or mentions or replies to the agent. */
  readonly addressed: boolean;
  /** The owner's decision about the sender. */
  readonly standing: SenderStanding;
  /** Messages of this sender that became turns within the last hour. */
  readonly lastHour: number;
}

/**
 * The decision about a message.
 *
 * - `pass`: it becomes a turn.
 * - `pair`: the sender receives a code, and the owner a notice.
 * - `refuse`: it is stored as refused, with the reason; the sender is not told.
 * - `ignore`: it was not meant for the agent, and nothing is stored.
 */
export type AccessDecision =
  | { readonly to: 'pass' }
  | { readonly to: 'pair' }
  | { readonly to: 'refuse'; readonly reason: RefusedReason }
  | { readonly to: 'ignore' };

export const refusedReasons = ['not_allowed', 'denied', 'sender_limit'] as const;
export type RefusedReason = (typeof refusedReasons)[number];

export function decideAccess(access: ChannelAccess, approach: Approach): AccessDecision {
  // Two bots that answer each other would talk all night.
  if (approach.isBot) return { to: 'ignore' };
  if (approach.kind === 'group' && access.groups.requireMention && !approach.addressed) return { to: 'ignore' };
  if (approach.standing === 'denied') return { to: 'refuse', reason: 'denied' };
  const entry = approach.kind === 'direct' ? enterDirectly(access, approach) : enterByGroup(access, approach);
  if (entry !== 'pass') return entry === 'pair' ? { to: 'pair' } : { to: 'refuse', reason: 'not_allowed' };
  if (approach.lastHour >= access.perSenderHourly) return { to: 'refuse', reason: 'sender_limit' };
  return { to: 'pass' };
}

/** A conversation to which an unasked message is to go. */
export interface Destination extends Pick<Approach, 'kind' | 'conversationId' | 'standing'> {
  /** The last sender who was admitted, or null. */
  readonly senderId: string | null;
}

/** Whether the people there could write to the agent now. */
export function maySpeakIn(access: ChannelAccess, { senderId, ...there }: Destination): boolean {
  const approach = { ...there, senderId: there.standing === 'denied' ? '' : (senderId ?? '') };
  if (there.kind === 'group') return enterByGroup(access, approach) === 'pass';
  return there.standing !== 'denied' && enterDirectly(access, approach) === 'pass';
}

type Entering = Pick<Approach, 'senderId' | 'conversationId' | 'standing'>;

function enterDirectly(access: ChannelAccess, approach: Entering): 'pass' | 'pair' | 'refuse' {
  switch (access.mode) {
    case 'disabled':
      return 'refuse';
    case 'open':
      return 'pass';
    case 'allowlist':
      return isNamed(access, approach) ? 'pass' : 'refuse';
    case 'pairing':
      return isNamed(access, approach) ? 'pass' : 'pair';
  }
}

function enterByGroup(access: ChannelAccess, approach: Entering): 'pass' | 'refuse' {
  switch (access.groups.mode) {
    case 'disabled':
      return 'refuse';
    case 'open':
      return 'pass';
    case 'allowlist':
      return isIn(access.groups.allow, approach.conversationId) || isNamed(access, approach) ? 'pass' : 'refuse';
  }
}

const isNamed = ({ allowFrom }: ChannelAccess, { senderId, standing }: Entering): boolean =>
  standing === 'approved' || allowFrom.includes(senderId);

const isIn = (allowed: readonly string[], conversationId: string): boolean =>
  allowed.some((id) => id === conversationId || conversationId.startsWith(`${id}/`));
