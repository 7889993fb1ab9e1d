import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Check, CircleAlert, LoaderCircle } from 'lucide-react';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import type { Agent } from '@lodge/sdk';
import { hasCode, list, lodge } from '../../api.ts';
import { buttonClass } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { useNow } from '../../components/time.tsx';
import { formatSeconds } from '../../format.ts';
import { pathTo } from '../../paths.ts';
import { channelTitles } from '../agent/channels/channel-names.ts';
import type { ChannelName } from '../agent/channels/channel-names.ts';
import { channelsRoute } from '../agent/routes.ts';
import { agentQuery } from '../agent/queries.ts';

const lookMs = 1_000;

interface ProgressProps {
  readonly agentId: string;
  /** The channel that is paired as soon as the agent runs. */
  readonly pair: ChannelName | undefined;
}

/** The agent that was just made, until it runs. Then its chat is opened, or its channel that waits to be paired. */
export function Progress({ agentId, pair }: ProgressProps) {
  const navigate = useNavigate();
  const agent = useQuery({
    ...agentQuery(agentId),
    staleTime: 0,
    refetchInterval: ({ state: { data } }) => (data === undefined || data.status === 'provisioning' ? lookMs : false),
  });
  const isReady = agent.data !== undefined && agent.data.status !== 'provisioning' && agent.data.status !== 'error';
  useEffect(() => {
    if (!isReady) return;
    if (pair === undefined) void navigate({ to: pathTo('/agents/$agentId/chat', agentId), replace: true });
    else void navigate({ to: channelsRoute.to, params: { agentId }, search: { channel: pair }, replace: true });
  }, [isReady, navigate, agentId, pair]);
  return (
    <Page title={agent.data === undefined ? 'New agent' : agent.data.name}>
      <div className="rounded-card border border-line bg-surface p-5 shadow-card sm:p-6">
        {hasCode(agent.error, 'agent_not_found') ? (
          <Gone />
        ) : (
          <Loaded query={agent}>{(data) => <Steps agent={data} pair={pair} />}</Loaded>
        )}
      </div>
    </Page>
  );
}

function Gone() {
  return (
    <div className="flex flex-col items-start gap-4">
      <p>This agent was deleted.</p>
      <Link to="/agents" className={buttonClass('secondary')}>
        All agents
      </Link>
    </div>
  );
}

function Steps({ agent, pair }: { readonly agent: Agent; readonly pair: ChannelName | undefined }) {
  const isFailed = agent.status === 'error';
  const isRunning = agent.status === 'running';
  return (
    <div className="flex flex-col gap-5">
      <ol className="flex flex-col gap-4">
        <Step state="done" title="Made">
          Its name, keys and settings are kept.
        </Step>
        <Step
          state={isFailed ? 'failed' : isRunning ? 'done' : 'now'}
          title={isFailed ? 'Its machine did not start' : 'Its machine starts'}
        >
          {isFailed ? (agent.status_reason?.message ?? 'No reason is known.') : <Waiting agent={agent} />}
        </Step>
        <Step
          state={isRunning ? 'done' : 'later'}
          title={pair === undefined ? 'You talk to it' : `You connect ${channelTitles[pair]}`}
        >
          {isFailed
            ? null
            : `${pair === undefined ? 'The chat' : 'The channel'} opens by itself. You can leave this page: the agent is made all the same.`}
        </Step>
      </ol>
      {isFailed && (
        <div className="flex flex-wrap gap-3">
          <Link to={pathTo('/agents/$agentId', agent.id)} className={buttonClass('primary')}>
            Open the agent
          </Link>
          <Link to={pathTo('/agents/$agentId/logs', agent.id)} className={buttonClass('secondary')}>
            See its log
          </Link>
        </div>
      )}
    </div>
  );
}

const icons = { done: Check, now: LoaderCircle, failed: CircleAlert, later: null } as const;

interface StepProps {
  readonly state: keyof typeof icons;
  readonly title: string;
  readonly children: ReactNode;
}

function Step({ state, title, children }: StepProps) {
  const Icon = icons[state];
  const looks = {
    done: 'bg-accent-soft text-accent',
    now: 'bg-warn-soft text-warn',
    failed: 'bg-danger-soft text-danger',
    later: 'border border-line',
  };
  return (
    <li className="flex gap-3" {...(state === 'now' && { 'aria-current': 'step' as const })}>
      <span className={`flex size-7 shrink-0 items-center justify-center rounded-full ${looks[state]}`}>
        {Icon !== null && <Icon aria-hidden className={state === 'now' ? 'size-4 animate-spin' : 'size-4'} />}
      </span>
      <div role={state === 'failed' ? 'alert' : undefined} className="flex min-w-0 flex-col gap-0.5 pt-1">
        <p className={state === 'later' ? 'text-muted' : 'font-medium'}>{title}</p>
        {children !== null && <div className="wrap-anywhere text-muted">{children}</div>}
      </div>
    </li>
  );
}

/** Says what it waits for, in the words of its log: the first agents of a new Lodge wait for their template. */
function Waiting({ agent }: { readonly agent: Agent }) {
  const log = useQuery({
    queryKey: ['agent', agent.id, 'progress'],
    queryFn: () => list(lodge.agents.logs(agent.id, { limit: 1 })),
    refetchInterval: 2 * lookMs,
  });
  const line = log.data?.[0]?.message;
  return (
    <>
      <p role="status">{line ?? 'This takes a second or two.'}</p>
      <p className="tabular-nums">
        <Elapsed since={agent.created_at} />
      </p>
    </>
  );
}

const slowS = 15;

function Elapsed({ since }: { readonly since: string }) {
  const seconds = Math.max(0, Math.round((useNow() - Date.parse(since)) / 1_000));
  return (
    <>
      {formatSeconds(seconds)}
      {seconds >= slowS &&
        '. The first agent of a new Lodge takes a few minutes, once. Those after it start in about a second.'}
    </>
  );
}
