import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Agent } from '@lodge/sdk';
import { Activity } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../../components/cx.ts';
import { Section } from '../../components/page.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { formatNumber } from '../../format.ts';
import { pathTo } from '../../paths.ts';
import { agentQuery } from '../agent/queries.ts';
import { homeQueries } from './queries.ts';
import { recentOf } from './recent.ts';
import type { Recent } from './recent.ts';

/** The newest activity, over all agents. */
export function RecentSection({ newest }: { newest: readonly Agent[] }) {
  const recent = useQuery(homeQueries.recent);
  return (
    <Section title="Recent activity">
      <Loaded query={recent} skeleton={<SkeletonRows rows={5} />}>
        {(events) =>
          events.length === 0 ? (
            <EmptyState Icon={Activity} title="Nothing happened yet">
              Messages, schedules, starts and failures of all agents are listed here as they happen.
            </EmptyState>
          ) : (
            <List recent={recentOf(events)} newest={newest} />
          )
        }
      </Loaded>
    </Section>
  );
}

function List({ recent, newest }: { recent: readonly Recent[]; newest: readonly Agent[] }) {
  const nameOf = useNames(recent, newest);
  return (
    <ol className="divide-y divide-line">
      {recent.map((each) => (
        <li key={each.id}>
          <Row recent={each} name={each.agentId === null ? undefined : nameOf(each.agentId)} />
        </li>
      ))}
    </ol>
  );
}

/** Names of agents by id. Those that are not among the newest ones are read; a deleted one has none. */
function useNames(recent: readonly Recent[], newest: readonly Agent[]): (id: string) => string | undefined {
  const known = new Map(newest.map(({ id, name }) => [id, name]));
  const gone = new Set(recent.flatMap(({ type, agentId }) => (type === 'agent.deleted' ? [agentId] : [])));
  const others = [...new Set(recent.flatMap(({ agentId: id }) => (id === null || gone.has(id) ? [] : [id])))].filter(
    (id) => !known.has(id),
  );
  const read = useQueries({ queries: others.map((id) => ({ ...agentQuery(id), staleTime: 60_000 })) });
  for (const { data } of read) if (data !== undefined) known.set(data.id, data.name);
  return (id) => known.get(id);
}

const dots: Readonly<Record<Recent['tone'], string>> = {
  plain: 'bg-control',
  good: 'bg-accent',
  warning: 'bg-warn',
  bad: 'bg-danger',
};

function Row({ recent, name }: { recent: Recent; name: string | undefined }) {
  const { at, title, detail, tone, count } = recent;
  return (
    <Place recent={recent} isThere={name !== undefined}>
      <span aria-hidden className={cx('mt-1.5 size-2 shrink-0 rounded-full', dots[tone])} />
      <span className="flex min-w-0 flex-col gap-0.5">
        <span className="wrap-anywhere">
          {name !== undefined && (
            <>
              <bdi className="font-medium">{name}</bdi>
              <span aria-hidden className="text-muted">
                {' · '}
              </span>
              <span className="sr-only">: </span>
            </>
          )}
          {title}
          {count > 1 && <span className="text-muted"> ({formatNumber(count)} times)</span>}
        </span>
        {detail !== undefined && (
          <span dir="auto" className="line-clamp-2 text-[0.8125rem] wrap-anywhere text-muted">
            {detail}
          </span>
        )}
      </span>
      <span className="text-[0.8125rem] text-muted max-sm:col-start-2">
        <Time value={at} />
      </span>
    </Place>
  );
}

const look =
  'grid grid-cols-[max-content_minmax(0,1fr)] gap-x-3 gap-y-0.5 px-5 py-3 sm:grid-cols-[max-content_minmax(0,1fr)_max-content] sm:px-6';
const link = cx(look, 'transition-colors hover:bg-hover');

const accountPages: Readonly<Record<string, string>> = {
  account: '/account/usage',
  api_key: '/account/keys',
  invitation: '/account/people',
  oauth: '/account/keys',
  password: '/account/security',
  totp: '/account/security',
  usage: '/account/usage',
  webhook: '/account/webhooks',
  skill: '/account/skills',
};

/** Leads to where more is known. */
function Place({
  recent: { type, agentId },
  isThere,
  children,
}: {
  recent: Recent;
  isThere: boolean;
  children: ReactNode;
}) {
  if (agentId !== null) {
    if (!isThere) return <div className={look}>{children}</div>;
    return (
      <Link to={pathTo('/agents/$agentId/activity', agentId)} className={link}>
        {children}
      </Link>
    );
  }
  return (
    <Link to={pathTo(accountPages[type.split('.', 1)[0] ?? ''] ?? '/account/audit')} className={link}>
      {children}
    </Link>
  );
}
