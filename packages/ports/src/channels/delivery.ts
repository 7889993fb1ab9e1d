import type { ChannelName, DeliverTarget } from '@lodge/domain';

/** The destination of an answer. `channel` and `conversation` (the platform's id) are set only with `to: "channel"`. */
export interface Delivery {
  readonly to: DeliverTarget;
  readonly channel: ChannelName | null;
  readonly conversation: string | null;
}

/** An answer goes nowhere unless its owner says otherwise. */
export const noDelivery: Delivery = { to: 'none', channel: null, conversation: null };
