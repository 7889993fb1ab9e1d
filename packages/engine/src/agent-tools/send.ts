/** An agent sends a message unasked. The access policy must allow the conversation now, and answers' bounds hold. */
import { Refusal, channelNamed } from '@lodge/domain';
import type { ChannelAnswer, GuestAddress } from '@lodge/ports';
import type { ChannelDestination } from '@lodge/store/channels';
import { GuestLoan } from '../channels/answering/guest-loan.ts';
import { collect, discard } from '../channels/answering/outbox.ts';
import { maxQueued, queueInConversation, unsayable, whyUnsayable } from '../channels/conversations.ts';
import type { AgentToolsDeps, Tool } from './deps.ts';
import type { ToolGuest } from './tool-guest.ts';

export const sendMessage: Tool<'send_message'> = (deps, { guest, args }) =>
  queue(deps, destinationOf(guest, args), { text: args.text.trim(), files: [] });

export const sendFile: Tool<'send_file'> = async (deps, { guest, args, signal }) => {
  const destination = destinationOf(guest, args);
  checkPath(args.path);
  const why = await deps.database.transaction((trx) => whyUnsayable(trx, destination));
  // The check comes before any bytes are moved.
  if (why !== null) throw unsayable('conversation', why);
  const { files, notSent } = await withGuest(deps, guest, signal, (guestOf) =>
    collect(deps, [args.path], { owner: guest, guestOf }, signal),
  );
  if (files.length === 0) throw new Refusal('invalid_request', notSent[0] ?? 'The file was not sent.');
  try {
    return await queue(deps, destination, { text: args.text?.trim() ?? '', files });
  } catch (error) {
    // If the database's answer was lost, the message may be queued.
    if (error instanceof Refusal) await discard(deps, files);
    throw error;
  }
};

const destinationOf = (
  { accountId, agentId }: ToolGuest,
  { channel, conversation: conversationId }: { readonly channel: string; readonly conversation: string },
): ChannelDestination => ({ accountId, agentId, channel: channelNamed(channel)!, conversationId });

function checkPath(path: string): void {
  const names = path.split('/');
  if (path.startsWith('/workspace/') && !names.includes('..') && names.at(-1) !== '') return;
  throw new Refusal('invalid_request', 'path must be that of a file below /workspace, such as /workspace/report.pdf.');
}

async function queue(deps: AgentToolsDeps, destination: ChannelDestination, answer: ChannelAnswer) {
  const queued = await deps.database.transaction((trx) => queueInConversation(trx, destination, answer));
  if (queued === 'full') {
    throw new Refusal(
      'rate_limit_exceeded',
      `${maxQueued} messages wait in this conversation already. Try again later.`,
    );
  }
  if (typeof queued === 'string') throw unsayable('conversation', queued);
  return { status: 'queued', message_id: queued.id };
}

/** Uses the guest of the calling agent, which therefore runs. */
async function withGuest<T>(
  { agents }: AgentToolsDeps,
  { accountId, agentId }: ToolGuest,
  signal: AbortSignal,
  act: (guestOf: () => Promise<GuestAddress>) => Promise<T>,
): Promise<T> {
  const loan = new GuestLoan(agents, { accountId, agentId }, { wake: false, timeoutMs: 30_000, signal });
  try {
    return await act(() => loan.guest());
  } finally {
    loan.release();
  }
}
