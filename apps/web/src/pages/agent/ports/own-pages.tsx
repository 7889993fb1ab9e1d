import type { Agent, CreateLink } from '@lodge/sdk';
import { ExternalLink } from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { Failure } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { useOpenPage } from './queries.ts';

/** The pages that the agent's runtime serves itself. */
export function OwnPages({ agent, mayChange }: { readonly agent: Agent; readonly mayChange: boolean }) {
  return (
    <Section title="The agent’s own pages" description="What its runtime serves, at the agent’s address.">
      <ul aria-label="The agent’s own pages" className="divide-y divide-line">
        <OwnPage agentId={agent.id} title="Gateway" url={agent.url} page="gateway" mayChange={mayChange} />
        {agent.dashboard_url !== null && (
          <OwnPage
            agentId={agent.id}
            title="Dashboard"
            url={agent.dashboard_url}
            page="dashboard"
            mayChange={mayChange}
          />
        )}
      </ul>
    </Section>
  );
}

interface OwnPageProps {
  readonly agentId: string;
  readonly title: string;
  readonly url: string;
  readonly page: NonNullable<CreateLink['page']>;
  readonly mayChange: boolean;
}

function OwnPage({ agentId, title, url, page, mayChange }: OwnPageProps) {
  const open = useOpenPage(agentId);
  return (
    <li className="flex flex-col gap-3 px-5 py-4 sm:px-6">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-0 grow basis-48">
          <p className="font-medium">{title}</p>
          <p className="font-mono text-[0.8125rem] wrap-anywhere text-muted">{url}</p>
        </div>
        {mayChange && (
          <Button small pending={open.isPending} onClick={() => open.mutate({ page })} aria-label={`Open the ${page}`}>
            <ExternalLink aria-hidden className="size-4" />
            Open
          </Button>
        )}
      </div>
      <Failure error={open.error} />
    </li>
  );
}
