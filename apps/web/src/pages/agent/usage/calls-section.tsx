import { Link } from '@tanstack/react-router';
import type { LlmCall } from '@lodge/sdk';
import { ReceiptText } from 'lucide-react';
import { lodge } from '../../../api.ts';
import { Badge } from '../../../components/badge.tsx';
import type { Tone } from '../../../components/badge.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import type { Column } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { Paged, usePages } from '../../../components/shown/paged.tsx';
import { EmptyState } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { formatNumber, formatUsd } from '../../../format.ts';

const outcomes: Readonly<Record<LlmCall['outcome'], readonly [Tone, string]>> = {
  ok: ['good', 'Answered'],
  provider_error: ['bad', 'Error'],
  cancelled: ['quiet', 'Given up'],
  unreachable: ['bad', 'Not reached'],
  refused: ['warning', 'Refused'],
  interrupted: ['warning', 'Interrupted'],
};

const tokens = (value: number | null): string => (value === null ? '–' : formatNumber(value));

const columnsOf = (agentId: string): readonly Column<LlmCall>[] => [
  {
    header: 'Model',
    cell: ({ id, provider, model }) => (
      <Link
        to="/agents/$agentId/activity"
        params={{ agentId }}
        search={{ call: id }}
        className="wrap-anywhere text-accent underline-offset-4 hover:underline"
      >
        {provider}/{model}
      </Link>
    ),
  },
  {
    header: 'Outcome',
    cell: ({ outcome }) => {
      const [tone, name] = outcomes[outcome];
      return <Badge tone={tone}>{name}</Badge>;
    },
  },
  {
    header: 'Tokens',
    cell: ({ input_tokens: input, output_tokens: output, estimated }) => (
      <span className="tabular-nums">
        {tokens(input)} in, {tokens(output)} out{estimated && <span className="text-muted"> (estimated)</span>}
      </span>
    ),
  },
  {
    header: 'Cost',
    cell: ({ cost }) => <span className="tabular-nums">{cost === null ? 'No price' : formatUsd(cost)}</span>,
  },
  { header: 'When', cell: ({ started_at: at }) => <Time value={at} /> },
];

/** The newest model calls; each leads to all that is known of it. */
export function CallsSection({ agentId }: { agentId: string }) {
  const calls = usePages<LlmCall>(['agent', agentId, 'calls', 'newest'], (cursor) =>
    lodge.llmCalls.list(agentId, { limit: 20, ...(cursor !== undefined && { cursor }) }),
  );
  return (
    <Section title="Model calls" description="Newest first. Each leads to its page in the agent’s activity.">
      <Paged query={calls}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState Icon={ReceiptText} title="No model was called yet">
              Each call is listed here as it ends, with its tokens and what it cost.
            </EmptyState>
          ) : (
            <DataTable label="Model calls" columns={columnsOf(agentId)} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Paged>
    </Section>
  );
}
