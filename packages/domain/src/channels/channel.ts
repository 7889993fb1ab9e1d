/** Messaging channels: which there are, what each needs, and what may be said of one. */

export const channelNames = ['slack', 'discord', 'telegram', 'whatsapp', 'gmail'] as const;
export type ChannelName = (typeof channelNames)[number];

/** Names that are accepted and never emitted. */
export const channelAliases: Readonly<Record<string, ChannelName>> = { email: 'gmail' };

export const channelNamed = (name: string): ChannelName | null =>
  channelNames.find((each) => each === name) ?? channelAliases[name] ?? null;

export const channelTitles: Readonly<Record<ChannelName, string>> = {
  slack: 'Slack',
  discord: 'Discord',
  telegram: 'Telegram',
  whatsapp: 'WhatsApp',
  gmail: 'Gmail',
};

/** Platforms that show a turn's progress: what was sent can be edited there, and taken away. */
export const progressChannels: ReadonlySet<ChannelName> = new Set(['slack', 'discord', 'telegram']);

/** Secrets that a person gives with the channel, as the specification names them. The rest are paired or consented to. */
export const channelCredentials: Readonly<Record<ChannelName, readonly string[]>> = {
  slack: ['appToken', 'botToken'],
  discord: ['botToken'],
  telegram: ['botToken'],
  whatsapp: [],
  gmail: [],
};

/**
 * - `not_configured`: nothing was ever put.
 * - `pending_pairing`: it waits for a person: a code to scan, a consent to give.
 * - `connecting`: being opened for the first time since it was put or restarted.
 * - `connected`: the platform delivers to us, as far as can be proved.
 * - `disconnected`: lost, and being opened again by itself.
 * - `error`: only a person can mend it; nothing is tried meanwhile.
 * - `disabled`: switched off by its owner.
 */
export const channelStatuses = [
  'not_configured',
  'pending_pairing',
  'connecting',
  'connected',
  'disconnected',
  'error',
  'disabled',
] as const;
export type ChannelStatus = (typeof channelStatuses)[number];

/** Why a channel is not connected. */
export const channelReasonCodes = [
  'invalid_credentials',
  'wrong_kind_of_credential',
  'missing_permission',
  'revoked',
  'logged_out',
  'restricted',
  'used_elsewhere',
  'platform_unreachable',
  'platform_refused',
  'rate_limited',
  'deaf',
  'consent_needed',
  'pairing_needed',
  'not_verified',
  'relay_down',
] as const;
export type ChannelReasonCode = (typeof channelReasonCodes)[number];

/** `message` is a sentence that a person can act on. Never a secret, never a stranger's text. */
export interface ChannelReason {
  readonly code: ChannelReasonCode;
  readonly message: string;
}

/** Who the agent is on the platform. `name` is the platform's text: bounded, plain. */
export interface ChannelIdentity {
  readonly id: string;
  readonly name: string;
}

/** Where a message of a channel stands. `unknown`: an answer was sent, and whether it arrived cannot be told. */
export const messageStates = ['received', 'answered', 'failed', 'unknown', 'refused'] as const;
export type MessageState = (typeof messageStates)[number];

export const conversationKinds = ['direct', 'group'] as const;
export type ConversationKind = (typeof conversationKinds)[number];
