import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Agent, Limits } from '@lodge/sdk';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Section } from '../../components/page.tsx';
import { Loaded, SkeletonRows } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { formatNumber, formatUsd } from '../../format.ts';
import { pathTo } from '../../paths.ts';
import { limitsQuery } from '../limits/queries.ts';
import { StatusBadge } from '../agent/status-badge.tsx';
import { homeQueries } from './queries.ts';

/** Figures of the account, agents that need somebody, and the newest ones. */
export function Overview({ newest }: { newest: readonly Agent[] }) {
  const limits = useQuery(limitsQuery);
  const inError = useQuery(homeQueries.inError);
  return (
    <>
      <Loaded query={limits} skeleton={<SkeletonRows rows={1} />}>
        {(data) => <Figures limits={data} />}
      </Loaded>
      {inError.data !== undefined && inError.data.length > 0 && <NeedsYou agents={inError.data} />}
      <Section
        title="Agents"
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
    </>
  );
}

function Figures({ limits: { quotas, spend } }: { limits: Limits }) {
  return (
    <dl className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
      <Figure label="Agents" note={`of ${formatNumber(quotas.agents.limit)}`}>
        {formatNumber(quotas.agents.used)}
      </Figure>
      <Figure label="Running now" note={`of ${formatNumber(quotas.running_agents.limit)} at once`}>
        {formatNumber(quotas.running_agents.used)}
      </Figure>
      {spend !== null && (
        <>
          <Figure label="Models, today" note={ofLimit(spend.daily.limit_usd)}>
            {formatUsd(spend.daily.spent_usd)}
          </Figure>
          <Figure label="Models, this month" note={ofLimit(spend.monthly.limit_usd)}>
            {formatUsd(spend.monthly.spent_usd)}
          </Figure>
        </>
      )}
    </dl>
  );
}

const ofLimit = (limit: string | null): string => (limit === null ? 'no limit' : `of ${formatUsd(limit)}`);

function Figure({ label, note, children }: { label: string; note: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1 rounded-card border border-line bg-surface px-5 py-4 shadow-card">
      <dt className="text-muted">{label}</dt>
      <dd className="flex flex-wrap items-baseline gap-x-2">
        <span className="text-2xl font-semibold tracking-tight tabular-nums">{children}</span>
        <span className="text-[0.8125rem] text-muted">{note}</span>
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
        className="flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-3.5 transition-colors hover:bg-hover sm:px-6"
      >
        <span className="min-w-0 grow font-medium wrap-anywhere">
          <bdi>{agent.name}</bdi>
        </span>
        <span className="text-muted wrap-anywhere">{agent.model}</span>
        <span className="text-muted">
          {agent.last_active_at === null ? 'not used yet' : <Time value={agent.last_active_at} />}
        </span>
        <StatusBadge agent={agent} />
      </Link>
    </li>
  );
}
