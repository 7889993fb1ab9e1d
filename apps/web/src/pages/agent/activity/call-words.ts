import type { LlmCall } from '@lodge/sdk';
import { formatNumber, formatUsd } from '../../../format.ts';
import { secondsOf } from '../chat/cost-line.tsx';

interface OutcomeWords {
  readonly label: string;
  readonly meaning: string;
  readonly isBad: boolean;
}

export const outcomeWords: Readonly<Record<LlmCall['outcome'], OutcomeWords>> = {
  ok: { label: 'OK', meaning: 'The model answered.', isBad: false },
  provider_error: { label: 'Provider error', meaning: 'The provider answered with an error.', isBad: true },
  cancelled: { label: 'Given up', meaning: 'The agent gave it up.', isBad: false },
  unreachable: { label: 'Unreachable', meaning: 'The provider could not be reached.', isBad: true },
  refused: { label: 'Refused', meaning: 'Lodge refused it: it did not go out.', isBad: true },
  interrupted: {
    label: 'Interrupted',
    meaning: 'The server ended in its midst. The figures are those expected before it.',
    isBad: true,
  },
};

const number = (value: number | null): string => (value === null ? '–' : formatNumber(value));

/** `1,200 in (300 cached), 80 out`. */
export function tokenWords(call: LlmCall): string {
  const cached = call.cache_read_tokens ?? 0;
  const written = call.cache_write_tokens ?? 0;
  const input = call.input_tokens === null ? null : call.input_tokens + cached + written;
  return `${call.estimated ? 'about ' : ''}${number(input)} in${cached > 0 ? ` (${formatNumber(cached)} cached)` : ''}, ${number(call.output_tokens)} out`;
}

export const costWords = ({ cost, estimated }: Pick<LlmCall, 'cost' | 'estimated'>): string =>
  cost === null ? 'no known price' : `${estimated ? 'about ' : ''}${formatUsd(cost)}`;

export const durationWords = (call: LlmCall): string => (call.duration_ms === null ? '–' : secondsOf(call.duration_ms));
