/** Who may talk to an agent on a channel: the one place that decides. */
import type { ConversationKind } from './channel.ts';

/**
 * - `pairing`: an unknown sender gets a code, and its owner approves it.
 * - `allowlist`: those named in `allowFrom` alone.
 * - `open`: anybody.
 * - `disabled`: nobody.
 */
export const accessModes = ['pairing', 'allowlist', 'open', 'disabled'] as const;
export type AccessMode = (typeof accessModes)[number];

export const groupModes = ['allowlist', 'open', 'disabled'] as const;
export type GroupMode = (typeof groupModes)[number];

export interface ChannelAccess {
  /** In direct conversations. */
  readonly mode: AccessMode;
  /** The platform's ids of senders; approved ones are kept apart. */
  readonly allowFrom: readonly string[];
  /** In groups. `allowlist`: a sender who may write directly, or a conversation in `groups.allow`. */
  readonly groups: {
    readonly mode: GroupMode;
    /** The platform's ids of conversations. One before a `/` names its threads too. */
    readonly allow: readonly string[];
    /** False: it answers what does not address it, too. */
    readonly requireMention: boolean;
  };
  /** Messages of one sender in an hour that become turns; more are refused. */
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
  /** A bot, or the agent itself. */
  readonly isBot: boolean;
  /** Written directly, or by a mention of or a reply to the agent. */
  readonly addressed: boolean;
  /** What the channel's owner decided of the sender. */
  readonly standing: SenderStanding;
  /** Messages of this sender that became turns within the last hour. */
  readonly lastHour: number;
}

/**
 * - `pass`: becomes a turn.
 * - `pair`: the sender is told a code, and the owner that somebody asks.
 * - `refuse`: kept as refused, with the reason; the sender is told nothing.
 * - `ignore`: not meant for the agent; nothing is kept.
 */
export type AccessDecision =
  | { readonly to: 'pass' }
  | { readonly to: 'pair' }
  | { readonly to: 'refuse'; readonly reason: RefusedReason }
  | { readonly to: 'ignore' };

export const refusedReasons = ['not_allowed', 'denied', 'sender_limit'] as const;
export type RefusedReason = (typeof refusedReasons)[number];

export function decideAccess(access: ChannelAccess, approach: Approach): AccessDecision {
  // An answer to a bot is how two of them talk all night.
  if (approach.isBot) return { to: 'ignore' };
  if (approach.kind === 'group' && access.groups.requireMention && !approach.addressed) return { to: 'ignore' };
  if (approach.standing === 'denied') return { to: 'refuse', reason: 'denied' };
  const entry = approach.kind === 'direct' ? enterDirectly(access, approach) : enterByGroup(access, approach);
  if (entry !== 'pass') return entry === 'pair' ? { to: 'pair' } : { to: 'refuse', reason: 'not_allowed' };
  if (approach.lastHour >= access.perSenderHourly) return { to: 'refuse', reason: 'sender_limit' };
  return { to: 'pass' };
}

/** A conversation into which something is to be said that nobody there asked for. */
export interface Destination extends Pick<Approach, 'kind' | 'conversationId' | 'standing'> {
  /** The last who was let in; null: nobody was. */
  readonly senderId: string | null;
}

/** Whether whoever is there could write to the agent now. */
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
