import type { ChannelAccess, ChannelName } from '@lodge/domain';
import type { ChannelSecrets } from '@lodge/ports';

/** A channel as its owner puts it. */
export interface ChannelInput {
  readonly channel: ChannelName;
  readonly enabled: boolean;
  readonly access: ChannelAccess;
  /** Values by the names in `channelCredentials`; omitted ones stay as they are stored. */
  readonly credentials: ChannelSecrets;
}

export interface PutOptions {
  /** False skips asking the platform whether the credentials are good. */
  readonly verify: boolean;
  /** Prefix of a field's name in a refusal. */
  readonly prefix?: string;
  readonly signal: AbortSignal;
}

/** A channel that is checked and not yet written. */
export interface CheckedChannel {
  readonly input: ChannelInput;
  /** The same as in `NewChannel`. */
  readonly accountKey?: string | null;
}
