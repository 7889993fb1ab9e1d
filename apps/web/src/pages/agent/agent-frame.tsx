import { Outlet } from '@tanstack/react-router';
import type { Agent } from '@lodge/sdk';
import { CircleAlert } from 'lucide-react';
import { Suspense } from 'react';
import { useTitle } from '../../components/page.tsx';
import { runtimeNames, sizeNames } from '../../components/words/agent-words.ts';
import { SkeletonRows } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { useMay } from '../../session.ts';
import { Provisioning } from './provisioning.tsx';
import { StatusBadge } from './status-badge.tsx';
import { useAgent } from './queries.ts';
import { VerbButtons } from './verb-buttons.tsx';

/** One agent: who it is, how it is, what can be done with it, and the page below. */
export function AgentFrame() {
  const agent = useAgent();
  useTitle(agent.name);
  return (
    <div className="flex flex-col gap-6">
      <Header agent={agent} />
      <Suspense fallback={<SkeletonRows />}>
        <Outlet />
      </Suspense>
    </div>
  );
}

function Header({ agent }: { agent: Agent }) {
  const mayChange = useMay('agents:write');
  const { runtime, runtime_kind: kind } = agent;
  return (
    <header className="flex flex-col gap-3">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="flex min-w-0 flex-col gap-1.5">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h1 tabIndex={-1} className="text-2xl font-semibold tracking-tight wrap-anywhere">
              <bdi>{agent.name}</bdi>
            </h1>
            <StatusBadge agent={agent} />
          </div>
          <p className="text-muted">
            {runtime === null ? runtimeNames[kind] : `${runtimeNames[kind]} ${runtime.version}`} ·{' '}
            <span className="wrap-anywhere">{agent.model}</span> · {sizeNames[agent.size]}
            {agent.last_active_at !== null && (
              <>
                {' '}
                · active <Time value={agent.last_active_at} />
              </>
            )}
          </p>
        </div>
        {mayChange && <VerbButtons agent={agent} />}
      </div>
      {agent.status === 'provisioning' && <Provisioning agent={agent} />}
      {agent.status_reason !== null && <Reason reason={agent.status_reason} isError={agent.status === 'error'} />}
    </header>
  );
}

function Reason({ reason, isError }: { reason: NonNullable<Agent['status_reason']>; isError: boolean }) {
  if (!isError) return null;
  return (
    <div className="flex gap-2.5 rounded-control bg-danger-soft px-3.5 py-2.5">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-danger" />
      <p className="min-w-0 wrap-anywhere">
        {reason.message}{' '}
        <span className="text-muted">
          <Time value={reason.at} />
        </span>
      </p>
    </div>
  );
}
