/** Events of messaging channels. No event contains the text of a message. Names of senders are their own words, bounded. */
import { channelTitles } from './channel.ts';
import type { ChannelName, ChannelReasonCode } from './channel.ts';
import { kind, told } from '../events/kind.ts';

type Of = { readonly channel: ChannelName };
type Why = Of & { readonly code: ChannelReasonCode; readonly message: string };
type Message = Of & { readonly message_id: string };

export const channelEvents = {
  'channel.configured': told<Of & { readonly enabled: boolean }>(
    'A channel was set up or changed; its credentials are in no event.',
  ),
  'channel.removed': told<Of>('A channel was removed.'),
  'channel.restarted': told<Of>('Somebody asked for a channel to connect anew.'),
  'channel.sender_decided': told<Of & { readonly sender_id: string; readonly approved: boolean }>(
    'Somebody who had asked to talk to the agent was let in, or was not.',
  ),
  'channel.connected': kind<Of & { readonly identity: string }>({
    level: 'info',
    public: 'The channel is connected; `identity` is who the agent is there.',
    sentence: ({ channel, identity }) => `${channelTitles[channel]} is connected as ${identity}.`,
  }),
  'channel.disconnected': kind<Why & { readonly status: 'disconnected' | 'error' }>({
    level: ({ status }) => (status === 'error' ? 'error' : 'warn'),
    public: 'The channel is not connected. With `status` `error` it stays so until somebody mends it.',
    sentence: ({ channel, message, status }) =>
      `${channelTitles[channel]} is not connected${status === 'error' ? '' : ', and is tried again'}: ${message}`,
  }),
  'channel.pairing_required': kind<Why>({
    level: 'warn',
    public: 'The channel waits for a person: a code to scan, or a consent.',
    sentence: ({ channel, message }) => `${channelTitles[channel]} waits to be paired: ${message}`,
  }),
  'channel.access_requested': kind<
    Of & { readonly sender_id: string; readonly sender_name: string; readonly code: string }
  >({
    level: 'info',
    public: 'Somebody unknown wants to talk to the agent; `code` approves it.',
    sentence: ({ channel, sender_id }) =>
      `Somebody unknown on ${channelTitles[channel]} asks for access (${sender_id}).`,
  }),
  'message.received': kind<Message & { readonly conversation: string }>({
    level: 'info',
    public: 'A message for the agent was taken up.',
    sentence: null,
  }),
  'message.retried': told<Message>('Somebody asked for a message to be answered, or an answer to be sent, once more.'),
  'message.answered': kind<Message & { readonly duration_ms: number }>({
    level: 'info',
    public: 'The answer to a message was sent, in all its parts.',
    sentence: null,
  }),
  'message.failed': kind<Message & { readonly state: 'failed' | 'unknown'; readonly reason: string }>({
    level: 'warn',
    public: 'A message was not answered (`failed`), or it cannot be told whether its answer arrived (`unknown`).',
    sentence: ({ channel, reason, state }) =>
      state === 'unknown'
        ? `Whether an answer on ${channelTitles[channel]} arrived is not known: ${reason}`
        : `A message on ${channelTitles[channel]} was not answered: ${reason}`,
  }),
} as const;
