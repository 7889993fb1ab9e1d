import type { ChannelName, DeliverTarget } from '@lodge/domain';

/** Where an answer goes; `channel` and `conversation`, the platform's id, with `to: "channel"` alone. */
export interface Delivery {
  readonly to: DeliverTarget;
  readonly channel: ChannelName | null;
  readonly conversation: string | null;
}

/** Without an owner's word an answer goes nowhere. */
export const noDelivery: Delivery = { to: 'none', channel: null, conversation: null };
