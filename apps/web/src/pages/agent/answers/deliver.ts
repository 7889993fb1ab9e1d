import type { Schedule } from '@lodge/sdk';
import type { Problems } from '../../../components/form/use-form.ts';
import { text } from '../../../components/form/use-form.ts';
import { channelTitles } from '../channels/channel-names.ts';
import type { ChannelName } from '../channels/channel-names.ts';
import { cut } from './stranger.tsx';

/** Where an answer goes that nobody waits for. */
export type Deliver = Schedule['deliver'];
export type DeliverName = 'conversation_choice' | 'conversation_id';

/** A conversation as the value of an option. */
export const conversationValue = (channel: string, id: string): string => `${channel} ${id}`;
export const anotherConversation = 'another';

export function checkDeliver(data: FormData): Problems<DeliverName> {
  if (text(data, 'deliver_to') !== 'channel') return {};
  const choice = text(data, 'conversation_choice');
  if (choice === '') return { conversation_choice: 'Choose a conversation.' };
  const isMissing = choice === anotherConversation && text(data, 'conversation_id').trim() === '';
  return isMissing ? { conversation_id: 'Enter the id of the conversation.' } : {};
}

export function deliverOf(data: FormData): Deliver {
  const to = text(data, 'deliver_to') as Deliver['to'];
  if (to !== 'channel') return { to };
  const choice = text(data, 'conversation_choice');
  if (choice === anotherConversation) {
    const channel = text(data, 'conversation_channel') as ChannelName;
    return { to, channel, conversation: text(data, 'conversation_id').trim() };
  }
  const end = choice.indexOf(' ');
  return { to, channel: choice.slice(0, end) as ChannelName, conversation: choice.slice(end + 1) };
}

export function deliverWords({ to, channel, conversation }: Deliver, kept: string): string {
  if (to === 'none') return kept;
  if (to === 'webhook') return 'Told by an event, to your webhooks too';
  const title = channel === undefined || channel === 'email' ? channelTitles.gmail : channelTitles[channel];
  return `Said on ${title}, in the conversation ${cut(conversation ?? '', 60)}`;
}
