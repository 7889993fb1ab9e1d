import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Bot, Plus, SearchX } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import type { Agent } from '@lodge/sdk';
import { Button, buttonClass } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { formatNumber } from '../../format.ts';
import { onEvent } from '../../live/live.ts';
import { useMay } from '../../session.ts';
import { AgentGrid, GridSkeleton } from './agent-grid.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { Filters } from './filters.tsx';
import { allAgents, refreshAgentRow, spendByAgent } from './queries.ts';
import type { AgentRows } from './queries.ts';
import { useSelection } from './selection.ts';
import { isNarrowed, shownAgents, useView } from './view.ts';

export function AgentsPage() {
  const agents = useLiveAgents();
  const mayWrite = useMay('agents:write');
  const isEmpty = agents.data?.isWhole === true && agents.data.agents.length === 0;
  return (
    <Page
      width="wide"
      title="Agents"
      description="Each has a virtual machine of its own, with its files, its memory and its conversations."
      {...(mayWrite && !isEmpty && { actions: <NewAgentLink /> })}
    >
      <Loaded query={agents} skeleton={<GridSkeleton />}>
        {(data) => (data.isWhole && data.agents.length === 0 ? <NoAgents mayWrite={mayWrite} /> : <List rows={data} />)}
      </Loaded>
    </Page>
  );
}

/** All agents. An event reads the row of its agent again. */
function useLiveAgents() {
  const client = useQueryClient();
  useEffect(
    () =>
      onEvent(({ agent_id: id }) => {
        if (id !== null) refreshAgentRow(client, id);
      }),
    [client],
  );
  return useQuery(allAgents);
}

function NewAgentLink() {
  return (
    <Link to="/agents/new" className={buttonClass('primary')}>
      <Plus aria-hidden className="size-4" />
      New agent
    </Link>
  );
}

function NoAgents({ mayWrite }: { readonly mayWrite: boolean }) {
  return (
    <div className="rounded-card border border-line bg-surface shadow-card">
      <EmptyState Icon={Bot} title="No agents yet" {...(mayWrite && { action: <NewAgentLink /> })}>
        {mayWrite
          ? 'An agent is an AI assistant with a computer of its own. Give it a name and a model, and talk to it a moment later.'
          : 'Agents of this account appear here as soon as somebody makes one. Your role only reads.'}
      </EmptyState>
    </div>
  );
}

const none: ReadonlyMap<string, string> = new Map();

function List({ rows: { agents, isWhole } }: { readonly rows: AgentRows }) {
  const [view, setView] = useView();
  const spend = useQuery(spendByAgent);
  const shown = useMemo(() => shownAgents(agents, view, spend.data ?? none), [agents, view, spend.data]);
  const selection = useSelection(shown);
  const mayWrite = useMay('agents:write');
  const mayDelete = useMay('agents:delete');
  const isSelectable = mayWrite || mayDelete;
  return (
    <div className="flex flex-col gap-3">
      <Filters agents={agents} view={view} change={setView} />
      <p role="status" className="text-[0.8125rem] text-muted tabular-nums">
        {countWords(shown, agents, isWhole, isNarrowed(view))}
      </p>
      <div className="rounded-card border border-line bg-surface shadow-card">
        {shown.length === 0 ? (
          <EmptyState
            Icon={SearchX}
            title="No agent fits"
            action={<Button onClick={() => setView({ sort: view.sort, dir: view.dir })}>Show all agents</Button>}
          >
            {isWhole ? 'None of your agents matches these filters.' : 'None so far. More agents are being loaded.'}
          </EmptyState>
        ) : (
          <AgentGrid
            agents={shown}
            spend={spend.data ?? (spend.isError ? null : undefined)}
            view={view}
            change={setView}
            selection={isSelectable ? selection : null}
          />
        )}
      </div>
      {isSelectable && (
        <BulkBar chosen={selection.chosen} clear={selection.clear} mayWrite={mayWrite} mayDelete={mayDelete} />
      )}
    </div>
  );
}

function countWords(shown: readonly Agent[], agents: readonly Agent[], isWhole: boolean, narrowed: boolean): string {
  const all = `${formatNumber(agents.length)} ${agents.length === 1 ? 'agent' : 'agents'}`;
  const count = narrowed ? `${formatNumber(shown.length)} of ${all}` : all;
  return isWhole ? count : `${count} so far, loading more…`;
}
