import { Link } from '@tanstack/react-router';
import type { Host } from '@lodge/sdk';
import { Bot } from 'lucide-react';
import { Badge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { EmptyState } from '../../components/states.tsx';
import { formatBytes, formatNumber } from '../../format.ts';
import { pathTo } from '../../paths.ts';

type Agents = NonNullable<Host['agents']>;
type TopAgent = Agents['top'][number];

const mib = 2 ** 20;
const size = (value: number | null): string => (value === null ? 'not read' : formatBytes(value * mib));

const columns: readonly Column<TopAgent>[] = [
  {
    header: 'Agent',
    cell: ({ id, name }) => (
      <span className="flex min-w-0 flex-col gap-0.5">
        {name === null ? (
          <span className="text-muted">Of another person</span>
        ) : (
          <Link
            to={pathTo('/agents/$agentId', id)}
            className="wrap-anywhere text-accent underline-offset-4 hover:underline"
          >
            <bdi>{name}</bdi>
          </Link>
        )}
        <span className="font-mono text-xs font-normal text-muted">{id}</span>
      </span>
    ),
  },
  {
    header: 'Status',
    cell: ({ status }) => (
      <Badge tone={status === 'error' ? 'bad' : status === 'running' ? 'good' : 'quiet'}>{status}</Badge>
    ),
  },
  { header: 'Memory', cell: ({ memory_mib: value }) => <span className="tabular-nums">{size(value)}</span> },
  { header: 'Disk', cell: ({ disk_mib: value }) => <span className="tabular-nums">{size(value)}</span> },
  {
    header: 'Saved memory',
    cell: ({ snapshot_mib: value }) => <span className="tabular-nums">{value === 0 ? '–' : size(value)}</span>,
  },
];

/** The agents of everybody that hold the most of the machine. */
export function TopAgents({ agents }: { agents: Agents | null }) {
  return (
    <Section title="Who holds the most" description={agents === null ? undefined : describe(agents)}>
      {agents === null ? (
        <p className="px-5 py-4 text-muted sm:px-6">The machine does not answer about its agents at the moment.</p>
      ) : agents.top.length === 0 ? (
        <EmptyState Icon={Bot} title="No agents yet">
          Each agent’s share of memory and disk is listed here.
        </EmptyState>
      ) : (
        <DataTable label="Agents that hold the most" columns={columns} rows={agents.top} keyOf={({ id }) => id} />
      )}
    </Section>
  );
}

function describe({ total, by_status: byStatus, unread }: Agents): string {
  const states = byStatus.map(({ status, count }) => `${formatNumber(count)} ${status}`).join(', ');
  const left = unread === 0 ? '' : ` The memory of ${formatNumber(unread)} was not read.`;
  return `${formatNumber(total)} ${total === 1 ? 'agent' : 'agents'} of all people${states === '' ? '' : `: ${states}`}.${left}`;
}
