import type { Connection } from '@lodge/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Plug, Plus } from 'lucide-react';
import { Badge } from '../../../components/badge.tsx';
import { buttonClass } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import type { Column } from '../../../components/data-table.tsx';
import { TabPage } from '../../../components/page.tsx';
import { backLinkClass, BackWords } from '../../../components/shown/links.tsx';
import { Card, LoadedCard } from '../../../components/shown/cards.tsx';
import { EmptyState, Loaded } from '../../../components/states.tsx';
import { useStepFocus } from '../../../components/form/focus.ts';
import { useMay } from '../../../session.ts';
import { useAgent } from '../queries.ts';
import { ConnectionDetail } from './connection-detail.tsx';
import { ConnectionForm } from './connection-form.tsx';
import { connectionsQuery } from './queries.ts';
import { connectionsRoute } from '../routes.ts';
import { connectionStatus, kindTitles } from './status.ts';

export function ConnectionsPage() {
  const { connection, form } = connectionsRoute.useSearch();
  const mayChange = useMay('agents:write');
  if (connection !== undefined) {
    return (
      <OneConnection key={`${connection} ${form ?? ''}`} name={connection} isEditing={mayChange && form === 'edit'} />
    );
  }
  if (form === 'add' && mayChange) return <NewConnection />;
  return <AllConnections mayChange={mayChange} />;
}

/** The ways within this tab. */
function useGo() {
  const { id: agentId } = useAgent();
  const navigate = useNavigate();
  const go = (search: { connection?: string; form?: 'add' | 'edit' }) =>
    void navigate({ to: connectionsRoute.to, params: { agentId }, search });
  return { agentId, go };
}

function Back() {
  const { id } = useAgent();
  return (
    <Link to={connectionsRoute.to} params={{ agentId: id }} search={{}} className={backLinkClass}>
      <BackWords>All connections</BackWords>
    </Link>
  );
}

function NewConnection() {
  useStepFocus();
  const { agentId, go } = useGo();
  return (
    <TabPage width="form" title="Connections" actions={<Back />}>
      <ConnectionForm
        agentId={agentId}
        connection={undefined}
        onDone={({ name }) => go({ connection: name })}
        onCancel={() => go({})}
      />
    </TabPage>
  );
}

function OneConnection({ name, isEditing }: { readonly name: string; readonly isEditing: boolean }) {
  useStepFocus();
  const { agentId, go } = useGo();
  const mayChange = useMay('agents:write');
  const connections = useQuery(connectionsQuery(agentId));
  const connection = connections.data?.find((one) => one.name === name);
  return (
    <TabPage width={isEditing ? 'form' : 'normal'} title={connection?.name ?? 'Connection'} actions={<Back />}>
      <LoadedCard query={connections}>
        {() => {
          if (connection === undefined) {
            return (
              <Card>
                <EmptyState Icon={Plug} title="There is no such connection">
                  It may have been deleted.
                </EmptyState>
              </Card>
            );
          }
          return isEditing ? (
            <ConnectionForm
              agentId={agentId}
              connection={connection}
              onDone={() => go({ connection: name })}
              onCancel={() => go({ connection: name })}
            />
          ) : (
            <ConnectionDetail
              connection={connection}
              mayChange={mayChange}
              onEdit={() => go({ connection: name, form: 'edit' })}
              onDeleted={() => go({})}
            />
          );
        }}
      </LoadedCard>
    </TabPage>
  );
}

const columns: readonly Column<Connection>[] = [
  {
    header: 'Name',
    cell: (one) => (
      <Link
        to={connectionsRoute.to}
        params={{ agentId: one.agent_id }}
        search={{ connection: one.name }}
        className="wrap-anywhere text-accent hover:underline"
      >
        {one.name}
      </Link>
    ),
  },
  { header: 'Kind', cell: ({ kind }) => kindTitles[kind] },
  { header: 'Address', cell: ({ url }) => <span className="font-mono text-[0.8125rem] wrap-anywhere">{url}</span> },
  {
    header: 'State',
    cell: (one) => {
      const { label, tone } = connectionStatus(one);
      return <Badge tone={tone}>{label}</Badge>;
    },
  },
];

function AllConnections({ mayChange }: { readonly mayChange: boolean }) {
  useStepFocus();
  const { id: agentId } = useAgent();
  const connections = useQuery(connectionsQuery(agentId));
  const add = mayChange && (
    <Link to={connectionsRoute.to} params={{ agentId }} search={{ form: 'add' }} className={buttonClass('primary')}>
      <Plus aria-hidden className="size-4" />
      New connection
    </Link>
  );
  return (
    <TabPage
      width="wide"
      title="Connections"
      description="Services that the agent uses without holding their credentials: the host adds them to each request."
      actions={connections.data?.length !== 0 && add}
    >
      <Card>
        <Loaded query={connections}>
          {(data) =>
            data.length === 0 ? (
              <EmptyState Icon={Plug} title="No connections yet" action={add}>
                Connect an HTTP service or an MCP server, such as your issue tracker.
              </EmptyState>
            ) : (
              <DataTable label="Connections" columns={columns} rows={data} keyOf={({ name }) => name} />
            )
          }
        </Loaded>
      </Card>
    </TabPage>
  );
}
