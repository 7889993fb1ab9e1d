import type { LlmCall } from '@lodge/sdk';
import { Badge } from '../../../components/badge.tsx';
import { formatNumber, formatUsd } from '../../../format.ts';
import { sumOf } from '../chat/ask.ts';
import { secondsOf } from '../chat/cost-line.tsx';
import { costWords, durationWords, outcomeWords, tokenWords } from './call-words.ts';
import type { Item } from './timeline.ts';

/** The model calls of an item: their sum, and each of them. */
export function CallList({ item, onCall }: { item: Item; onCall: (callId: string) => void }) {
  const { calls } = item;
  const { tokens, usd, estimated } = sumOf(calls);
  const about = estimated ? 'about ' : '';
  const words = [
    `${formatNumber(calls.length)} model ${calls.length === 1 ? 'call' : 'calls'}${item.type === 'event' ? ' meanwhile' : ''}`,
    `${about}${formatNumber(tokens)} tokens`,
    usd === null ? 'no known price' : `${about}${formatUsd(String(usd))}`,
    ...(item.type === 'event' && item.tookMs !== null ? [`took ${secondsOf(item.tookMs)}`] : []),
  ].join(' · ');
  return (
    <details className="text-[0.8125rem]">
      <summary className="w-fit rounded-control text-muted tabular-nums hover:text-ink">{words}</summary>
      <ol aria-label="Model calls" className="mt-2 divide-y divide-line rounded-control border border-line">
        {calls.map((call) => (
          <CallRow key={call.id} call={call} onCall={onCall} />
        ))}
      </ol>
    </details>
  );
}

function CallRow({ call, onCall }: { call: LlmCall; onCall: (callId: string) => void }) {
  const { label, meaning, isBad } = outcomeWords[call.outcome];
  return (
    <li>
      <button
        type="button"
        onClick={() => onCall(call.id)}
        className="flex w-full flex-wrap items-baseline gap-x-4 gap-y-1 px-3 py-2 text-left hover:bg-hover"
      >
        <span className="min-w-0 grow font-medium wrap-anywhere">
          {call.provider}/{call.model}
        </span>
        {call.outcome !== 'ok' && (
          <span title={meaning}>
            <Badge tone={isBad ? 'bad' : 'quiet'}>{label}</Badge>
          </span>
        )}
        <span className="text-muted tabular-nums">{tokenWords(call)}</span>
        <span className="text-muted tabular-nums">{durationWords(call)}</span>
        <span className="tabular-nums">{costWords(call)}</span>
      </button>
    </li>
  );
}
