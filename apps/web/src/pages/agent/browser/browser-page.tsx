/** The browser in the agent's machine: its state, its tabs, and the way to its view. */
import { useQuery } from '@tanstack/react-query';
import type { Agent, Browser } from '@lodge/sdk';
import { AppWindow, ExternalLink } from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { Failure } from '../../../components/notice.tsx';
import { Section, TabPage } from '../../../components/page.tsx';
import { EmptyState, Loaded } from '../../../components/states.tsx';
import { useMay } from '../../../session.ts';
import { useOpenPage } from '../ports/queries.ts';
import { useAgent } from '../queries.ts';
import { browserQuery, useReleaseControl, useWantBrowser } from './queries.ts';

const statusWords: Readonly<Record<Browser['status'], string>> = {
  off: 'The machine does not have it yet.',
  unavailable: 'It is not available.',
  idle: 'It starts when somebody uses it.',
  starting: 'It is starting.',
  running: 'It runs.',
  failed: 'It has failed.',
  asleep: 'The agent does not run.',
};

export function BrowserPage() {
  const agent = useAgent();
  const mayChange = useMay('agents:write');
  return (
    <TabPage title="Browser" description="A browser in the agent’s machine, which a person can take over.">
      {agent.browser ? <Present agent={agent} mayChange={mayChange} /> : <Absent agent={agent} mayChange={mayChange} />}
    </TabPage>
  );
}

interface PartProps {
  readonly agent: Agent;
  readonly mayChange: boolean;
}

function Absent({ agent, mayChange }: PartProps) {
  const want = useWantBrowser(agent.id);
  const give = mayChange && (
    <Button variant="primary" pending={want.isPending} onClick={() => want.mutate(true)}>
      Give it a browser
    </Button>
  );
  return (
    <Section title="State">
      <EmptyState Icon={AppWindow} title="The agent has no browser" action={give}>
        With one it fills forms, reads pages that need a login, and downloads files.
      </EmptyState>
      <Failure error={want.error} />
    </Section>
  );
}

function Present({ agent, mayChange }: PartProps) {
  const query = useQuery(browserQuery(agent.id));
  const want = useWantBrowser(agent.id);
  const open = useOpenPage(agent.id);
  const release = useReleaseControl(agent.id);
  return (
    <Section title="State">
      <Loaded query={query}>
        {(browser) => (
          <div className="flex flex-col gap-4 px-5 py-4 sm:px-6">
            <p>
              {statusWords[browser.status]} {browser.message !== null && <bdi>{browser.message}</bdi>}
            </p>
            {browser.controlled_by === 'owner' && <p>A person controls it. The agent’s own calls wait.</p>}
            {browser.tabs.length > 0 && <Tabs tabs={browser.tabs} />}
            {mayChange && (
              <div className="flex flex-wrap gap-2">
                <Button variant="primary" pending={open.isPending} onClick={() => open.mutate({ page: 'browser' })}>
                  <ExternalLink aria-hidden className="size-4" />
                  Open the view
                </Button>
                {browser.controlled_by === 'owner' && (
                  <Button pending={release.isPending} onClick={() => release.mutate()}>
                    Give the control back
                  </Button>
                )}
                <Button pending={want.isPending} onClick={() => want.mutate(false)}>
                  Take the browser away
                </Button>
              </div>
            )}
            <Failure error={open.error ?? release.error ?? want.error} />
          </div>
        )}
      </Loaded>
    </Section>
  );
}

function Tabs({ tabs }: Pick<Browser, 'tabs'>) {
  return (
    <ul aria-label="Tabs" className="divide-y divide-line">
      {tabs.map(({ id, title, url }) => (
        <li key={id} className="py-2">
          <p className="font-medium wrap-anywhere">
            <bdi>{title === '' ? 'Without a title' : title}</bdi>
          </p>
          <p className="font-mono text-[0.8125rem] wrap-anywhere text-muted">
            <bdi>{url}</bdi>
          </p>
        </li>
      ))}
    </ul>
  );
}
