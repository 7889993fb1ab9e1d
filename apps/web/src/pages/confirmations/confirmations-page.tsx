import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { MessageCircleQuestion } from 'lucide-react';
import type { Confirmation } from '@lodge/sdk';
import { lodge } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { Page, Section } from '../../components/page.tsx';
import { Paged, usePages } from '../../components/shown/paged.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { visibleName, visibleText } from '../../components/words/visible-text.ts';
import { AgentLink } from './agent-link.tsx';
import { ConfirmationDialog } from './confirmation-dialog.tsx';
import { openConfirmations } from './queries.ts';
import { statusWords } from './words.ts';

const route = getRouteApi('/app/confirmations');

/** Calls of agents that wait for a yes, their questions, and what became of earlier ones. */
export function ConfirmationsPage() {
  const { confirmation } = route.useSearch();
  const navigate = useNavigate();
  const go = (id?: string): void =>
    void navigate({ to: '.', search: id === undefined ? {} : { confirmation: id }, resetScroll: false });
  const open = useQuery(openConfirmations);
  const all = usePages(['confirmations', 'all'], (cursor) =>
    lodge.confirmations.list({ limit: 50, ...(cursor !== undefined && { cursor }) }),
  );
  return (
    <Page
      title="Confirmations"
      description="Calls of your agents that wait for your yes, and their questions to you. Rules in an agent’s settings say what it asks about."
      width="wide"
    >
      <Section title="Open">
        <Loaded query={open}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState Icon={MessageCircleQuestion} title="Nothing waits for you">
                A call that needs a yes, or a question, appears here as soon as an agent asks.
              </EmptyState>
            ) : (
              <DataTable
                label="Open confirmations"
                columns={[asks, request, agent, asked, until, actionOf('Review', go)]}
                rows={data}
                keyOf={({ id }) => id}
              />
            )
          }
        </Loaded>
      </Section>
      <Section title="Earlier" description="Newest first. They are kept for 30 days.">
        <Paged query={all}>
          {(rows) => {
            const closed = rows.filter(({ status }) => status !== 'pending');
            if (closed.length === 0) return <p className="px-5 py-6 text-muted sm:px-6">None yet.</p>;
            return (
              <DataTable
                label="Earlier confirmations"
                columns={[asks, agent, end, asked, actionOf('Show', go)]}
                rows={closed}
                keyOf={({ id }) => id}
              />
            );
          }}
        </Paged>
      </Section>
      {confirmation !== undefined && (
        <ConfirmationDialog key={confirmation} id={confirmation} onClose={() => go(undefined)} />
      )}
    </Page>
  );
}

const asks: Column<Confirmation> = {
  header: 'Asks',
  cell: ({ action, kind }) => (
    <bdi className="line-clamp-3 wrap-anywhere">{kind === 'question' ? 'A question' : visibleName(action)}</bdi>
  ),
};

/** The beginning of the agent's words; the whole is in the dialog. */
const request: Column<Confirmation> = {
  header: 'In its words',
  cell: ({ quoted }) =>
    quoted === null ? (
      <span className="text-muted">None</span>
    ) : (
      <bdi className="line-clamp-3 max-w-md font-mono text-xs wrap-anywhere whitespace-pre-wrap">
        {visibleText(quoted)}
      </bdi>
    ),
};

const agent: Column<Confirmation> = { header: 'Agent', cell: ({ agent_id: id }) => <AgentLink id={id} /> };
const asked: Column<Confirmation> = { header: 'Asked', cell: ({ requested_at: at }) => <Time value={at} /> };
const until: Column<Confirmation> = { header: 'Open until', cell: ({ expires_at: at }) => <Time value={at} /> };
const end: Column<Confirmation> = {
  header: 'End',
  cell: (confirmation) => {
    const { label, tone } = statusWords(confirmation);
    return <Badge tone={tone}>{label}</Badge>;
  },
};

const actionOf = (words: string, go: (id: string) => void): Column<Confirmation> => ({
  header: 'Actions',
  actions: true,
  cell: ({ id, action }) => (
    <Button small onClick={() => go(id)} aria-label={`${words}: ${visibleName(action)}`}>
      {words}
    </Button>
  ),
});
