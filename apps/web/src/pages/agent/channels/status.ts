import type { Channel } from '@lodge/sdk';
import type { Tone } from '../../../components/badge.tsx';

interface StatusWords {
  readonly label: string;
  readonly tone: Tone;
}

const words: Readonly<Record<Channel['status'], StatusWords>> = {
  not_configured: { label: 'Not set up', tone: 'quiet' },
  pending_pairing: { label: 'Waits for you', tone: 'warning' },
  connecting: { label: 'Connecting…', tone: 'quiet' },
  connected: { label: 'Connected', tone: 'good' },
  disconnected: { label: 'Disconnected, tried again', tone: 'warning' },
  error: { label: 'Needs you', tone: 'bad' },
  disabled: { label: 'Off', tone: 'quiet' },
};

export const statusWords = (status: Channel['status']): StatusWords => words[status];
