export { leaveAccount } from './account.ts';
export * from './consents.ts';
export * from './answers.ts';
export { asidesOf, cutClaim, lockAside, setAnswer } from './asides.ts';
export { channelsOf, findChannel } from './channel-row.ts';
export type { ChannelRow } from './channel-row.ts';
export {
  deleteChannel,
  freeOfDeleted,
  hasCredentials,
  insertChannel,
  lockChannel,
  putCredentials,
  reopenChannel,
  updateChannel,
} from './channels.ts';
export type { ChannelChange, LockedChannel, NewChannel } from './channels.ts';
export * from './conversations.ts';
export { appendEnds } from './message-ends.ts';
export { lockMessage, messagePage, selectMessage, sendAgain, turnAgain } from './messages.ts';
export type { ChannelMessage, MessagePlace, MessageQuery } from './messages.ts';
export { queueAnswer, queueEdit } from './queue.ts';
export * as relayRows from './relay.ts';
export { decideSender, senderDecidedBy, sendersOf } from './senders.ts';
export type { ChannelPlace, ChannelSender } from './senders.ts';
export { storable } from './text.ts';
export {
  firstWaiting,
  lockClaims,
  renewTurns,
  stopsWanted,
  takeConversations,
  takeMessages,
  tellTurn,
} from './turns.ts';
export type { ClaimOptions, WaitingInTurn } from './turns.ts';
