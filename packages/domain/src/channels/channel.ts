/** Messaging channels: their names, their credentials, and their states. */

export const channelNames = ['slack', 'discord', 'telegram', 'whatsapp', 'gmail'] as const;
export type ChannelName = (typeof channelNames)[number];

/** Names that input may use and output never has. */
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

/** Platforms that show a turn's progress, because a sent message can be edited and removed there. */
export const progressChannels: ReadonlySet<ChannelName> = new Set(['slack', 'discord', 'telegram']);

/** Secrets that a person gives with the channel, by the specification's names. Other channels are paired or consented to. */
export const channelCredentials: Readonly<Record<ChannelName, readonly string[]>> = {
  slack: ['appToken', 'botToken'],
  discord: ['botToken'],
  telegram: ['botToken'],
  whatsapp: [],
  gmail: [],
};

/**
 * The status of a channel.
 *
 * - `not_configured`: the channel was never put.
 * - `pending_pairing`: it waits for a person to scan a code or to give consent.
 * - `connecting`: it connects for the first time since it was put or restarted.
 * - `connected`: the platform delivers to us, as far as can be proved.
 * - `disconnected`: the connection was lost and is reopened automatically.
 * - `error`: only a person can repair it; nothing is tried meanwhile.
 * - `disabled`: its owner switched it off.
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

/** Reasons why a channel is not connected. */
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

/** `message` is a sentence that a person can act on. It contains no secret and no stranger's text. */
export interface ChannelReason {
  readonly code: ChannelReasonCode;
  readonly message: string;
}

/** The agent's identity on the platform. `name` is the platform's text, bounded and plain. */
export interface ChannelIdentity {
  readonly id: string;
  readonly name: string;
}

/** The state of a channel's message. `unknown` means that an answer was sent and its arrival is uncertain. */
export const messageStates = ['received', 'answered', 'failed', 'unknown', 'refused'] as const;
export type MessageState = (typeof messageStates)[number];

export const conversationKinds = ['direct', 'group'] as const;
export type ConversationKind = (typeof conversationKinds)[number];
