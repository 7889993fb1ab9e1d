import { Link } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import { hasCode } from '../../api.ts';
import { buttonClass } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState } from '../../components/states.tsx';
import { RouteError } from '../../frame/route-states.tsx';

/** An agent that could not be shown: there is none, or the server did not say. */
export function AgentMissing({ error }: { error: unknown }) {
  if (!hasCode(error, 'agent_not_found')) return <RouteError error={error} />;
  return (
    <Page title="There is no such agent">
      <EmptyState
        Icon={Bot}
        title="It was deleted, or it is not yours"
        action={
          <Link to="/" className={buttonClass('primary')}>
            Go to the start
          </Link>
        }
      >
        Agents are seen by the account that made them alone.
      </EmptyState>
    </Page>
  );
}
