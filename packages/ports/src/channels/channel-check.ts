import type { ChannelName } from '@lodge/domain';
import type { ChannelSecrets, Verified } from './platform.ts';

/** Asks platforms on behalf of who puts a channel. */
export interface ChannelCheck {
  /** Rejects with a `ChannelFailure` where the platform says no or is not reached. Null: there is nothing to ask. */
  verify(channel: ChannelName, credentials: ChannelSecrets, signal: AbortSignal): Promise<Verified | null>;
  /** Has the connection of a channel ask for a code to pair by a phone number. False: this channel has no connection here. */
  pairByNumber(agentId: string, channel: ChannelName, phoneNumber: string): Promise<boolean>;
}
