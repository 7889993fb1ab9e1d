import type { ChannelMessage } from '@lodge/sdk';
import type { Tone } from '../../../components/badge.tsx';
import { channelNames } from '../channels/channel-names.ts';
import type { ChannelName } from '../channels/channel-names.ts';

export type MessageState = ChannelMessage['state'];

/** Which messages are shown. */
export interface MessageFilters {
  readonly channel?: ChannelName;
  readonly state?: MessageState;
}

interface StateWords {
  readonly label: string;
  readonly tone: Tone;
  readonly meaning: string;
}

export const stateWords: Readonly<Record<MessageState, StateWords>> = {
  received: { label: 'Waits', tone: 'warning', meaning: 'Its answer is being made.' },
  answered: { label: 'Answered', tone: 'good', meaning: 'The answer was sent, in all its parts.' },
  failed: { label: 'Failed', tone: 'bad', meaning: 'It was not answered.' },
  unknown: {
    label: 'Not known',
    tone: 'warning',
    meaning: 'An answer was sent, and whether it arrived cannot be told.',
  },
  refused: { label: 'Refused', tone: 'quiet', meaning: 'The access of the channel did not let it in.' },
};

export const messageStates = Object.keys(stateWords) as readonly MessageState[];

export const isChannel = (value: unknown): value is ChannelName => channelNames.some((name) => name === value);
export const isState = (value: unknown): value is MessageState => messageStates.some((state) => state === value);
