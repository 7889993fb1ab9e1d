import { useQueries, useQuery } from '@tanstack/react-query';
import { ReceiptText } from 'lucide-react';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { formatUsd } from '../../format.ts';
import { agentQuery } from '../agent/queries.ts';
import { StatusBadge } from '../agent/status-badge.tsx';
import { spendByAgent } from '../agents/queries.ts';
import { AgentName } from './agent-name.tsx';

const most = 10;

type Spent = readonly [id: string, usd: string];

/** The agents whose models cost the most this month. */
export function CostTable() {
  const spend = useQuery(spendByAgent);
  return (
    <Loaded query={spend}>
      {(byAgent) => {
        const top = [...byAgent]
          .filter(([, usd]) => Number(usd) > 0)
          .toSorted(([, one], [, other]) => Number(other) - Number(one))
          .slice(0, most);
        if (top.length > 0) return <Ranked top={top} />;
        return (
          <EmptyState Icon={ReceiptText} title="Nothing spent this month">
            The cost of each agent’s model calls is added up here.
          </EmptyState>
        );
      }}
    </Loaded>
  );
}

function Ranked({ top }: { top: readonly Spent[] }) {
  const records = useQueries({ queries: top.map(([id]) => ({ ...agentQuery(id), staleTime: 60_000 })) });
  const recordOf = (id: string) => records.find(({ data }) => data?.id === id)?.data;
  const columns: readonly Column<Spent>[] = [
    {
      header: 'Agent',
      cell: ([id]) => {
        const record = recordOf(id);
        return record === undefined ? (
          <span className="font-mono text-xs font-normal text-muted">{id}</span>
        ) : (
          <AgentName id={id} name={record.name} />
        );
      },
    },
    {
      header: 'Status',
      cell: ([id]) => {
        const record = recordOf(id);
        return record === undefined ? <span className="text-muted">–</span> : <StatusBadge agent={record} />;
      },
    },
    {
      header: 'Model',
      cell: ([id]) => <span className="wrap-anywhere text-muted">{recordOf(id)?.model ?? '–'}</span>,
    },
    { header: 'This month', cell: ([, usd]) => <span className="tabular-nums">{formatUsd(usd)}</span> },
  ];
  return <DataTable label="Agents by cost" columns={columns} rows={top} keyOf={([id]) => id} />;
}
