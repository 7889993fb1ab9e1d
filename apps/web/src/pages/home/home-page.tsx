import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Agent } from '@lodge/sdk';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { buttonClass } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { Card } from '../../components/shown/cards.tsx';
import { ErrorState } from '../../components/states.tsx';
import { pathTo } from '../../paths.ts';
import { useMay } from '../../session.ts';
import { FirstAgent } from './first-agent.tsx';
import { homeQueries } from './queries.ts';
import { Overview, OverviewSkeleton } from './overview.tsx';

/** Shows what there is and what needs somebody; before the first agent, the way to it. */
export function HomePage() {
  const agents = useQuery(homeQueries.newest);
  const mayCreate = useMay('agents:write');
  const isFirst = agents.data?.length === 0;
  return (
    <Page
      title="Home"
      width={isFirst ? 'normal' : 'wide'}
      {...(mayCreate &&
        !isFirst && {
          actions: (
            <Link to={pathTo('/agents/new')} className={buttonClass('primary')}>
              <Plus aria-hidden className="size-4" />
              New agent
            </Link>
          ),
        })}
    >
      <Content query={agents} />
    </Page>
  );
}

function Content({ query }: { query: UseQueryResult<readonly Agent[]> }) {
  const { data, error, isFetching, refetch } = query;
  if (data !== undefined) return data.length === 0 ? <FirstAgent /> : <Overview newest={data} />;
  if (error === null) return <OverviewSkeleton />;
  return (
    <Card>
      <ErrorState error={error} retry={() => void refetch()} pending={isFetching} />
    </Card>
  );
}
