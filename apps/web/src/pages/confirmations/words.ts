/** Confirmations in words. */
import type { Confirmation } from '@lodge/sdk';
import type { Tone } from '../../components/badge.tsx';

interface StatusWords {
  readonly label: string;
  readonly tone: Tone;
  /** A sentence, where the label does not say all. */
  readonly meaning?: string;
}

const calls: Readonly<Record<Confirmation['status'], StatusWords>> = {
  pending: { label: 'Open', tone: 'warning' },
  allowed: { label: 'Allowed', tone: 'good', meaning: 'It is not done yet.' },
  sending: { label: 'Being done', tone: 'good' },
  done: { label: 'Done', tone: 'good' },
  denied: { label: 'Denied', tone: 'quiet' },
  expired: { label: 'Expired', tone: 'quiet', meaning: 'Nobody decided in time: it is not done.' },
  failed: { label: 'Not done', tone: 'bad', meaning: 'It was allowed, and nothing was sent.' },
  unknown: { label: 'Not known', tone: 'bad', meaning: 'It may have been done. It is never repeated.' },
};

export function statusWords({ kind, status, decision }: Confirmation): StatusWords {
  if (kind === 'question' && status === 'done') return { label: 'Answered', tone: 'good' };
  if (kind === 'question' && decision === 'deny') return { label: 'Not answered', tone: 'quiet' };
  return calls[status];
}
