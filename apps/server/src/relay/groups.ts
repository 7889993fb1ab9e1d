/**
 * The platforms that share a process. One process has those whose connections are cheap to open. WhatsApp has its own: a
 * handshake keeps its processor busy for tens of milliseconds, and a hundred of them must not delay the heartbeats of
 * others.
 */
import type { ChannelName } from '@lodge/domain';

export const relayGroups = {
  messages: ['slack', 'discord', 'telegram', 'gmail'],
  whatsapp: ['whatsapp'],
} as const satisfies Readonly<Record<string, readonly ChannelName[]>>;

export type RelayGroup = keyof typeof relayGroups;
export const groupNames = Object.keys(relayGroups) as readonly RelayGroup[];

/** A relay's end of the channel to its control plane. */
export const relayFd = 3;
