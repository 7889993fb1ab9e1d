import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Webhook, WebhookDelivery } from '@lodge/sdk';
import { Inbox } from 'lucide-react';
import { useEffect } from 'react';
import { change, lodge } from '../../api.ts';
import { Code } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { SelectField } from '../../components/form/field.tsx';
import { Section } from '../../components/page.tsx';
import { Paged } from '../../components/shown/paged.tsx';
import { EmptyState } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { formatNumber } from '../../format.ts';
import { onEvent } from '../../live/live.ts';
import { explain } from '../../messages.ts';
import { pathTo } from '../../paths.ts';
import { deliveriesQuery, webhookQuery, webhooksQuery } from './queries.ts';
import type { DeliveryState } from './queries.ts';
import { DeliveryStateBadge, deliveryNames } from './webhook-state.tsx';

interface DeliveriesProps {
  readonly webhook: Webhook;
  readonly state: DeliveryState | undefined;
  readonly mayChange: boolean;
}

export function DeliveriesSection({ webhook: { id, enabled }, state, mayChange }: DeliveriesProps) {
  const deliveries = useInfiniteQuery(deliveriesQuery(id, state));
  useRefreshOnEvents(id);
  const redeliver: Column<WebhookDelivery> = {
    header: 'Actions',
    actions: true,
    cell: (delivery) => <Redeliver delivery={delivery} />,
  };
  return (
    <Section
      title="Deliveries"
      description="Newest first. What your server does not take is sent again, for a day at most."
      actions={<StateFilter state={state} />}
    >
      <Paged query={deliveries}>
        {(rows) => {
          if (rows.length === 0) {
            return (
              <EmptyState Icon={Inbox} title={state === undefined ? 'Nothing was sent yet' : 'No such deliveries'}>
                Each event that this webhook asks for is listed here, with the answer of your server.
              </EmptyState>
            );
          }
          const all = mayChange && enabled ? [...columns, redeliver] : columns;
          return <DataTable label="Deliveries" columns={all} rows={rows} keyOf={(row) => row.id} />;
        }}
      </Paged>
    </Section>
  );
}

/** An event becomes a delivery, and is tried at once, soon after it is told here. */
const afterEventMs = 700;

function useRefreshOnEvents(id: string): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = (): void => {
      timer = undefined;
      void queryClient.invalidateQueries({ queryKey: webhookQuery(id).queryKey });
    };
    const stop = onEvent(() => {
      timer ??= setTimeout(refresh, afterEventMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [queryClient, id]);
}

function StateFilter({ state }: { state: DeliveryState | undefined }) {
  const navigate = useNavigate();
  return (
    <div className="w-44">
      <SelectField
        label="State"
        value={state ?? ''}
        onChange={(event) => {
          const { value } = event.currentTarget;
          void navigate({ to: '.', search: value === '' ? {} : { state: value }, replace: true, resetScroll: false });
        }}
      >
        <option value="">All</option>
        {deliveryNames.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </SelectField>
    </div>
  );
}

const columns: readonly Column<WebhookDelivery>[] = [
  {
    header: 'Event',
    cell: ({ event_type: type, agent_id: agentId }) => (
      <span className="flex flex-col items-start gap-1">
        <Code>{type}</Code>
        {agentId !== null && (
          <Link
            to={pathTo('/agents/$agentId', agentId)}
            className="font-mono text-xs font-normal text-muted underline-offset-4 hover:underline"
          >
            {agentId}
          </Link>
        )}
      </span>
    ),
  },
  { header: 'State', cell: (delivery) => <DeliveryStateBadge delivery={delivery} /> },
  { header: 'Response', cell: (delivery) => <Response delivery={delivery} /> },
  {
    header: 'Attempts',
    cell: ({ attempts, next_attempt_at: next }) => (
      <span className="flex flex-col gap-0.5 tabular-nums">
        {formatNumber(attempts)}
        {next !== null && (
          <span className="text-[0.8125rem] text-muted">
            {Date.parse(next) <= Date.now() ? (
              'next one now'
            ) : (
              <>
                next <Time value={next} />
              </>
            )}
          </span>
        )}
      </span>
    ),
  },
  { header: 'Made', cell: ({ created_at: made }) => <Time value={made} /> },
];

function Response({ delivery }: { delivery: WebhookDelivery }) {
  const { response_status: status, duration_ms: ms, reason } = delivery;
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      <span className="tabular-nums">
        {status ?? (reason === null ? '–' : <span className="text-muted">No answer</span>)}
        {ms !== null && <span className="text-muted"> · {formatNumber(ms)} ms</span>}
      </span>
      {reason !== null && <span className="max-w-72 text-[0.8125rem] wrap-anywhere text-muted">{reason}</span>}
    </span>
  );
}

function Redeliver({ delivery: { id, webhook_id: webhookId, event_type: type } }: { delivery: WebhookDelivery }) {
  const queryClient = useQueryClient();
  const mutation = useMutation({
    mutationFn: () => change(() => lodge.webhooks.redeliver(webhookId, id)),
    onSuccess: () => {
      toast('It is sent once more.');
      return queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
    },
    onError: (error) => toast(`Not sent: ${explain(error)}`),
  });
  return (
    <Button
      small
      variant="ghost"
      aria-label={`Send again: ${type}`}
      pending={mutation.isPending}
      onClick={() => mutation.mutate()}
      className="max-md:-ml-3 md:-my-1.5 md:-mr-3"
    >
      Send again
    </Button>
  );
}
