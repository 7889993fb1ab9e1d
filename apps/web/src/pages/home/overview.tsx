import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Agent, Limits } from '@lodge/sdk';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../../components/cx.ts';
import { Section } from '../../components/page.tsx';
import { Card, LoadedCard } from '../../components/shown/cards.tsx';
import { Skeleton } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { formatNumber, formatUsd } from '../../format.ts';
import { pathTo } from '../../paths.ts';
import { queries } from '../../queries.ts';
import { StatusBadge } from '../agent/status-badge.tsx';
import { homeQueries } from './queries.ts';
import { RecentSection } from './recent-section.tsx';

/** Figures of the account, agents that need somebody, and the newest ones. */
export function Overview({ newest }: { newest: readonly Agent[] }) {
  const limits = useQuery(queries.limits);
  const inError = useQuery(homeQueries.inError);
  return (
    <>
      <LoadedFigures query={limits} />
      {inError.data !== undefined && inError.data.length > 0 && <NeedsYou agents={inError.data} />}
      <div className={columns}>
        <Section
          title="Newest agents"
          actions={
            <Link to={pathTo('/agents')} className="font-medium text-accent underline underline-offset-2">
              All agents
            </Link>
          }
        >
          <ul className="divide-y divide-line">
            {newest.map((agent) => (
              <AgentLine key={agent.id} agent={agent} />
            ))}
          </ul>
        </Section>
        <RecentSection newest={newest} />
      </div>
    </>
  );
}

/** Agents and what they did, side by side where there is room for both. */
const columns = 'grid gap-8 2xl:grid-cols-2 2xl:items-start';

/** The page's shape while its agents are read. */
export function OverviewSkeleton() {
  return (
    <div role="status" className="flex flex-col gap-8">
      <span className="sr-only">Loading…</span>
      <FiguresSkeleton />
      <div className={columns}>
        {['agents', 'activity'].map((name) => (
          <Card key={name}>
            <div className="border-b border-line px-5 py-4 sm:px-6">
              <Skeleton className="h-5 w-32" />
            </div>
            <div aria-hidden className="divide-y divide-line">
              {Array.from({ length: 6 }, (_, row) => (
                <div key={row} className="flex flex-col gap-1.5 px-5 py-3.5 sm:px-6">
                  <Skeleton className="w-40" />
                  <Skeleton className="h-3 w-28" />
                </div>
              ))}
            </div>
          </Card>
        ))}
      </div>
    </div>
  );
}

const figureGrid = 'grid grid-cols-2 gap-3 sm:gap-4 lg:grid-cols-4';

function FiguresSkeleton() {
  return (
    <div aria-hidden className={figureGrid}>
      {['agents', 'running', 'today', 'month'].map((name) => (
        <Card key={name}>
          <div className="flex flex-col gap-3 px-4 py-4 sm:px-5">
            <Skeleton className="w-20" />
            <Skeleton className="h-7 w-24" />
          </div>
        </Card>
      ))}
    </div>
  );
}

function LoadedFigures({ query }: { query: UseQueryResult<Limits> }) {
  if (query.data !== undefined) return <Figures limits={query.data} />;
  if (query.error === null) return <FiguresSkeleton />;
  return <LoadedCard query={query}>{() => null}</LoadedCard>;
}

function Figures({ limits: { quotas, spend } }: { limits: Limits }) {
  return (
    <dl className={figureGrid}>
      <Figure label="Agents" note={`of ${formatNumber(quotas.agents.limit)}`}>
        {formatNumber(quotas.agents.used)}
      </Figure>
      <Figure label="Running now" note={`of ${formatNumber(quotas.running_agents.limit)} at once`}>
        {formatNumber(quotas.running_agents.used)}
      </Figure>
      {spend !== null && (
        <>
          <Figure label="Spent today" note={ofLimit(spend.daily)} isOver={isReached(spend.daily)}>
            {formatUsd(spend.daily.spent_usd)}
          </Figure>
          <Figure label="Spent this month" note={ofLimit(spend.monthly)} isOver={isReached(spend.monthly)}>
            {formatUsd(spend.monthly.spent_usd)}
          </Figure>
        </>
      )}
    </dl>
  );
}

type Window = NonNullable<Limits['spend']>['daily'];

const isReached = ({ limit_usd: limit, spent_usd: spent }: Window): boolean =>
  limit !== null && Number(spent) >= Number(limit);

function ofLimit(window: Window): string {
  const { limit_usd: limit } = window;
  if (limit === null) return 'no limit';
  return isReached(window) ? `limit of ${formatUsd(limit)} reached` : `of ${formatUsd(limit)}`;
}

interface FigureProps {
  readonly label: string;
  readonly note: string;
  readonly isOver?: boolean;
  readonly children: ReactNode;
}

function Figure({ label, note, isOver = false, children }: FigureProps) {
  return (
    <div className="flex flex-col gap-1 rounded-card border border-line bg-surface px-4 py-4 shadow-card sm:px-5">
      <dt className="text-muted">{label}</dt>
      <dd className="flex flex-wrap items-baseline gap-x-2">
        <span className="text-2xl font-semibold tracking-tight tabular-nums">{children}</span>
        <span className={cx('text-[0.8125rem]', isOver ? 'text-danger' : 'text-muted')}>{note}</span>
      </dd>
    </div>
  );
}

function NeedsYou({ agents }: { agents: readonly Agent[] }) {
  return (
    <Section title="Needs you" description="These agents do not run, and will not by themselves.">
      <ul className="divide-y divide-line">
        {agents.map(({ id, name, status_reason: reason }) => (
          <li key={id} className="flex gap-3 px-5 py-3.5 sm:px-6">
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-danger" />
            <div className="min-w-0">
              <Link
                to={pathTo('/agents/$agentId', id)}
                className="font-medium underline underline-offset-2 wrap-anywhere"
              >
                <bdi>{name}</bdi>
              </Link>
              {reason !== null && (
                <p className="text-muted wrap-anywhere">
                  {reason.message} <Time value={reason.at} />
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function AgentLine({ agent }: { agent: Agent }) {
  return (
    <li>
      <Link
        to={pathTo('/agents/$agentId', agent.id)}
        className="grid grid-cols-[minmax(0,1fr)_max-content] items-center gap-x-4 gap-y-0.5 px-5 py-3 transition-colors hover:bg-hover sm:px-6"
      >
        <span className="font-medium wrap-anywhere">
          <bdi>{agent.name}</bdi>
        </span>
        <span className="flex justify-end">
          <StatusBadge agent={agent} />
        </span>
        <span className="truncate text-[0.8125rem] text-muted">{agent.model}</span>
        <span className="text-right text-[0.8125rem] text-muted">
          {agent.last_active_at === null ? 'Not used yet' : <Time value={agent.last_active_at} />}
        </span>
      </Link>
    </li>
  );
}
