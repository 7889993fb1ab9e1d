import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Webhook } from '@lodge/sdk';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { Code } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { useOpen } from '../../components/form/use-typed.ts';
import { Page, Section } from '../../components/page.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { formatNumber } from '../../format.ts';
import { useMay } from '../../session.ts';
import { webhooksQuery } from './queries.ts';
import { CreateWebhookDialog, webhookDraft } from './webhook-dialog.tsx';
import { WebhookState } from './webhook-state.tsx';

export function WebhooksPage() {
  const webhooks = useQuery(webhooksQuery);
  const mayChange = useMay('agents:write');
  const [creating, setCreating] = useOpen(webhookDraft());
  const create = (
    <Button variant="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden className="size-4" />
      Create webhook
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      description="Servers of yours that are told what happens, as it happens."
      actions={mayChange ? create : undefined}
    >
      <Section title="Your webhooks">
        <Loaded query={webhooks}>
          {(data) =>
            data.length === 0 ? (
              <EmptyState
                Icon={WebhookIcon}
                title="No webhooks yet"
                {...(mayChange && { action: <Button onClick={() => setCreating(true)}>Create the first</Button> })}
              >
                With one, your server hears at once that an agent stopped, a message failed, or a limit is reached.
              </EmptyState>
            ) : (
              <DataTable label="Webhooks" columns={columns} rows={data} keyOf={({ id }) => id} />
            )
          }
        </Loaded>
      </Section>
      {creating && <CreateWebhookDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

const maxShown = 3;

const columns: readonly Column<Webhook>[] = [
  {
    header: 'URL',
    cell: ({ id, url, description }) => (
      <span className="flex min-w-0 flex-col gap-0.5">
        <Link
          to="/account/webhooks/$webhookId"
          params={{ webhookId: id }}
          className="wrap-anywhere text-accent underline-offset-4 hover:underline"
        >
          {url}
        </Link>
        {description !== '' && (
          <span className="text-[0.8125rem] font-normal wrap-anywhere text-muted">{description}</span>
        )}
      </span>
    ),
  },
  { header: 'Events', cell: ({ events }) => <Events patterns={events} /> },
  {
    header: 'State',
    cell: (webhook) => (
      <span className="flex flex-col items-start gap-1">
        <WebhookState webhook={webhook} />
        {webhook.disabled_reason !== null && (
          <span className="max-w-56 text-[0.8125rem] wrap-anywhere text-muted">{webhook.disabled_reason}</span>
        )}
        {webhook.failing_since !== null && (
          <span className="text-[0.8125rem] text-muted">
            since <Time value={webhook.failing_since} />
          </span>
        )}
      </span>
    ),
  },
  { header: 'Waiting', cell: ({ pending }) => <span className="tabular-nums">{formatNumber(pending)}</span> },
  { header: 'Created', cell: ({ created_at: created }) => <Time value={created} as="date" /> },
];

function Events({ patterns }: { patterns: readonly string[] }) {
  return (
    <span className="flex flex-wrap gap-1">
      {patterns.slice(0, maxShown).map((pattern) => (
        <Code key={pattern}>{pattern}</Code>
      ))}
      {patterns.length > maxShown && <span className="text-muted">and {patterns.length - maxShown} more</span>}
    </span>
  );
}
