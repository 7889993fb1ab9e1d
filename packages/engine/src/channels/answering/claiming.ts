/** Which conversations have their turn, and which of their messages make it. */
import { maxJoined, maxJoinedBytes } from '@lodge/ports';
import type { WaitingConversation, WaitingMessage } from '@lodge/ports';
import { firstWaiting, lockClaims, takeConversations, takeMessages } from '@lodge/store/channels';
import type { ClaimOptions, WaitingInTurn } from '@lodge/store/channels';
import type { Transaction } from '@lodge/store/database';

/** Claims conversations with their first waiting messages, which keep the claim's number until they are answered. */
export async function claimTurns(trx: Transaction, options: ClaimOptions): Promise<readonly WaitingConversation[]> {
  await lockClaims(trx);
  const taken = await takeConversations(trx, options);
  if (taken.length === 0) return [];
  const waiting = await firstWaiting(trx, taken, maxJoined);
  const claimed = taken.map(({ due: _due, ...row }) => {
    const messages = oneTurn(waiting.filter(({ conversation }) => conversation === row.id));
    const attempts = Math.max(0, ...messages.map((message) => message.attempts));
    return { ...row, attempts, messages: messages.map(toWaiting) };
  });
  const ids = claimed.flatMap(({ messages }) => messages.map(({ id }) => id));
  await takeMessages(trx, taken, ids);
  return claimed.filter(({ messages }) => messages.length > 0);
}

/** The messages of one turn: one command alone, or texts up to the next command, the next missing file, or the bounds. */
function oneTurn(messages: readonly WaitingInTurn[]): readonly WaitingInTurn[] {
  if (messages[0]?.ready && messages[0].command !== null) return [messages[0]];
  let bytes = 0;
  const end = messages.findIndex(({ command, ready, text }, index) => {
    bytes += Buffer.byteLength(text);
    return command !== null || !ready || (index > 0 && bytes > maxJoinedBytes);
  });
  return end === -1 ? messages : messages.slice(0, end);
}

const toWaiting = ({ id, senderId, senderName, text, sentAt, files }: WaitingInTurn): WaitingMessage => ({
  id,
  senderId,
  senderName,
  text,
  sentAt: new Date(sentAt),
  files,
});
