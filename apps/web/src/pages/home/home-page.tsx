import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { buttonClass } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { pathTo } from '../../paths.ts';
import { useMay } from '../../session.ts';
import { FirstAgent } from './first-agent.tsx';
import { homeQueries } from './queries.ts';
import { Overview } from './overview.tsx';

/** Shows what there is and what needs somebody; before the first agent, the way to it. */
export function HomePage() {
  const agents = useQuery(homeQueries.newest);
  const mayCreate = useMay('agents:write');
  const isFirst = agents.data?.length === 0;
  return (
    <Page
      title="Home"
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
      <Loaded query={agents}>
        {(newest) => (newest.length === 0 ? <FirstAgent /> : <Overview newest={newest} />)}
      </Loaded>
    </Page>
  );
}
