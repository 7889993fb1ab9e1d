import { Link } from '@tanstack/react-router';
import { formatNumber, formatUsd } from '../../../format.ts';
import { pathTo } from '../../../paths.ts';
import { useAgent } from '../queries.ts';
import type { Turn } from './conversation.ts';

/** The time, model calls, tokens and cost of a turn. */
export function CostLine({ turn: { cost, tookMs } }: { turn: Turn }) {
  const { id } = useAgent();
  const time = tookMs === undefined ? [] : [secondsOf(tookMs)];
  if (cost === undefined || cost.calls === 0) return time.length === 0 ? null : <p className={look}>{time}</p>;
  const { calls, more, tokens, usd, estimated } = cost;
  const about = estimated ? 'about ' : '';
  const words = [
    ...time,
    `${formatNumber(calls)}${more ? '+' : ''} model ${calls === 1 ? 'call' : 'calls'}`,
    `${about}${formatNumber(tokens)} tokens`,
    usd === null ? 'no known price' : `${about}${formatUsd(String(usd))}`,
  ].join(' · ');
  return (
    <p className={look}>
      <Link
        to={pathTo('/agents/$agentId/activity', id)}
        title="All that the agent asked its models while this turn ran"
        className="rounded-control underline-offset-2 hover:text-ink hover:underline"
      >
        {words}
      </Link>
    </p>
  );
}

const look = 'text-xs text-muted tabular-nums';

export function secondsOf(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
