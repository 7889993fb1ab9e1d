import type { Delivery } from '@lodge/ports';

/** The destination of an answer, in the columns of a schedule or a hook. */
export const deliverColumns = ({ to, channel, conversation }: Delivery) => ({
  deliverTo: to,
  deliverChannel: channel,
  deliverConversation: conversation,
});
