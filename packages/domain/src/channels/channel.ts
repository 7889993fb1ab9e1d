/** Messaging channels: their names, their credentials, and their states. */
import { platforms } from './platforms.ts';
import type { ChannelName, PlatformRow } from './platforms.ts';

const rows: Readonly<Record<ChannelName, PlatformRow>> = platforms;

export type { ChannelName };
export const channelNames = Object.keys(rows) as readonly ChannelName[];

export const platformOf = (channel: ChannelName): PlatformRow => rows[channel];

/** Names that input may use and output never has, with the channels that they mean. */
export const channelAliases: readonly (readonly [alias: string, channel: ChannelName])[] = channelNames.flatMap(
  (channel) => {
    const { alias } = rows[channel];
    return alias === undefined ? [] : [[alias, channel] as const];
  },
);

/** All names that input may use. */
export const channelInputNames: readonly string[] = [...channelNames, ...channelAliases.map(([alias]) => alias)];

export const channelNamed = (name: string): ChannelName | null =>
  channelNames.find((each) => each === name || rows[each].alias === name) ?? null;

const ofEach = <T>(read: (row: PlatformRow) => T): Readonly<Record<ChannelName, T>> =>
  Object.fromEntries(channelNames.map((channel) => [channel, read(rows[channel])])) as Record<ChannelName, T>;

export const channelTitles = ofEach(({ title }) => title);

/** Names of the secrets that a person gives with the channel. */
export const channelCredentials = ofEach(({ credentials }): readonly string[] => Object.keys(credentials));

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

/** The state in which a channel waits for another connection, or for a person. */
export interface OpenedState {
  readonly status: 'connecting' | 'pending_pairing' | 'disabled';
  readonly reason: ChannelReason | null;
}

/** Returns the state of a channel whose connection is opened anew; `isReady`: it has the credentials that it needs. */
export function openedState(channel: ChannelName, enabled: boolean, isReady: boolean): OpenedState {
  if (!enabled) return { status: 'disabled', reason: null };
  if (isReady) return { status: 'connecting', reason: null };
  return { status: 'pending_pairing', reason: platformOf(channel).waits ?? null };
}
