import { getRouteApi } from '@tanstack/react-router';
import type { Host } from '@lodge/sdk';
import { Bot } from 'lucide-react';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { FilterSelect } from '../../components/form/filter-select.tsx';
import { Section } from '../../components/page.tsx';
import { EmptyState } from '../../components/states.tsx';
import { formatBytes, formatNumber } from '../../format.ts';
import { StatusBadge } from '../agent/status-badge.tsx';
import { statusOf } from '../agent/status.ts';
import { AgentName } from './agent-name.tsx';
import { CostTable } from './cost-table.tsx';

type Agents = NonNullable<Host['agents']>;
type TopAgent = Agents['top'][number];

const route = getRouteApi('/app/host');
const mib = 2 ** 20;

const size = (value: number | null): string => {
  if (value === null) return 'not read';
  return value === 0 ? '–' : formatBytes(value * mib);
};
const amount = (value: number | null) => <span className="whitespace-nowrap tabular-nums">{size(value)}</span>;

const columns: readonly Column<TopAgent>[] = [
  { header: 'Agent', cell: ({ id, name }) => <AgentName id={id} name={name} /> },
  { header: 'Status', cell: ({ status }) => <StatusBadge agent={{ status, transition: null }} /> },
  { header: 'Memory', cell: ({ memory_mib: value }) => amount(value) },
  { header: 'Disk', cell: ({ disk_mib: value }) => amount(value) },
  { header: 'Snapshot', cell: ({ snapshot_mib: value }) => amount(value) },
];

/** The agents that take the most: room of the machine, or money. */
export function TopAgents({ agents }: { agents: Agents | null }) {
  const { by } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Section
      title="Agents that take the most"
      description={
        by === 'cost'
          ? 'Your own agents, by what their models cost this month (UTC).'
          : agents === null
            ? undefined
            : describe(agents)
      }
      actions={
        <FilterSelect
          label="By"
          all="Memory and disk"
          value={by}
          options={[['cost', 'Cost this month']]}
          onChange={(value) => void navigate({ search: value === 'cost' ? { by: value } : {}, resetScroll: false })}
        />
      }
    >
      {by === 'cost' ? <CostTable /> : <RoomTable agents={agents} />}
    </Section>
  );
}

function RoomTable({ agents }: { agents: Agents | null }) {
  if (agents === null) {
    return <p className="px-5 py-4 text-muted sm:px-6">The machine does not answer about its agents at the moment.</p>;
  }
  // An agent that never ran holds nothing.
  const top = agents.top.filter(
    ({ memory_mib: memory, disk_mib: disk, snapshot_mib: saved }) => memory !== 0 || disk > 0 || saved > 0,
  );
  if (top.length === 0) {
    return (
      <EmptyState Icon={Bot} title={agents.total === 0 ? 'No agents yet' : 'No agent holds anything'}>
        Each agent’s share of memory and disk is listed here.
      </EmptyState>
    );
  }
  return <DataTable label="Agents that hold the most" columns={columns} rows={top} keyOf={({ id }) => id} />;
}

function describe({ total, by_status: byStatus, unread }: Agents): string {
  const states = byStatus
    .map(({ status, count }) => `${formatNumber(count)} ${statusOf({ status, transition: null }).label.toLowerCase()}`)
    .join(', ');
  const left = unread === 0 ? '' : ` The memory of ${formatNumber(unread)} was not read.`;
  return `${formatNumber(total)} ${total === 1 ? 'agent' : 'agents'} of all people${states === '' ? '' : `: ${states}`}.${left}`;
}
