/**
 * The orders of a control plane to a relay process, and its replies. Secrets go here alone, never by arguments or the
 * environment. A relay's own calls to its control plane are in `serve/methods.ts`.
 */
import type { RelayTimings } from '@lodge/channels/relay';
import type { ChannelName, ChannelReason } from '@lodge/domain';
import type { ChannelSecrets, Verified } from '@lodge/ports';
import type { PlatformSetUps } from './platforms.ts';

export interface RelayStart {
  readonly type: 'start';
  /** The process' name in its log. */
  readonly name: string;
  readonly channels: readonly ChannelName[];
  readonly platforms: PlatformSetUps;
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
