import type { ChannelName } from '@lodge/domain';
import type { ChannelSecrets, Verified } from './platform.ts';

/** Asks platforms on behalf of the person who puts a channel. */
export interface ChannelCheck {
  /**
   * Checks credentials. Rejects with a `ChannelFailure` when the platform refuses or cannot be reached. Null means that
   * there is nothing to ask.
   */
  verify(channel: ChannelName, credentials: ChannelSecrets, signal: AbortSignal): Promise<Verified | null>;
  /** Asks a channel's connection for a code to pair by a phone number. False when this channel has no connection here. */
  pairByNumber(agentId: string, channel: ChannelName, phoneNumber: string): Promise<boolean>;
}
