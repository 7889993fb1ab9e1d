/**
 * The orders of a control plane to a relay process, and its replies. Secrets go here alone, never by arguments or the
 * environment. A relay's own calls to its control plane are in `serve/methods.ts`.
 */
import type { GmailPush } from '@lodge/channels/gmail';
import type { RelayTimings } from '@lodge/channels/relay';
import type { ChannelName, ChannelReason } from '@lodge/domain';
import type { ChannelSecrets, Verified } from '@lodge/ports';

/** The platforms' addresses, from the operator's configuration; null: their own. */
export interface PlatformUrls {
  readonly telegram: string | null;
  readonly slack: string | null;
  readonly discord: string | null;
  readonly gmail: string | null;
  readonly googleOauth: string | null;
  /** The page on which a person consents. */
  readonly googleConsent: string | null;
  readonly googlePubsub: string | null;
  readonly whatsapp: string | null;
  /** The address of its files. */
  readonly whatsappMedia: string | null;
  /** Public key of the root of its certificates, in hex. */
  readonly whatsappRoot: string | null;
}

/** The operator's client at Google. */
export interface GoogleClient {
  readonly clientId: string;
  /** Never logged. */
  readonly clientSecret: string;
  /** Time between two looks at a mailbox. */
  readonly pollMs: number;
  /** Null if Gmail publishes no notices for this server. */
  readonly push: GooglePush | null;
}

export type GooglePush = Pick<GmailPush, 'topic' | 'subscription' | 'account'>;

export interface RelayStart {
  readonly type: 'start';
  /** The process' name in its log. */
  readonly name: string;
  readonly channels: readonly ChannelName[];
  readonly urls: PlatformUrls;
  readonly google: GoogleClient | null;
  readonly logLevel: string;
  /** Only tests set these. */
  readonly timings?: RelayTimings;
}

export type RelayAsk =
  | {
      readonly type: 'verify';
      readonly id: number;
      readonly channel: ChannelName;
      readonly credentials: ChannelSecrets;
    }
  | {
      readonly type: 'pair';
      readonly id: number;
      readonly channel: ChannelName;
      readonly agentId: string;
      readonly phoneNumber: string;
    }
  | { readonly type: 'cancel'; readonly id: number };

export type RelayOrder = RelayStart | RelayAsk | { readonly type: 'ping' } | { readonly type: 'close' };

export type RelayReply =
  | { readonly type: 'ready' }
  | { readonly type: 'pong' }
  | { readonly type: 'verified'; readonly id: number; readonly verified: Verified | null }
  | { readonly type: 'paired'; readonly id: number; readonly isHere: boolean }
  | { readonly type: 'failed'; readonly id: number; readonly reason: ChannelReason };
