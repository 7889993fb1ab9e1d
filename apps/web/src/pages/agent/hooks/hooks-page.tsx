import type { Hook } from '@lodge/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Plus, Webhook } from 'lucide-react';
import { useState } from 'react';
import type { ComponentProps } from 'react';
import { backLinkClass, BackWords } from '../../../components/shown/links.tsx';
import { buttonClass } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import type { Column } from '../../../components/data-table.tsx';
import { TabPage } from '../../../components/page.tsx';
import { Card, LoadedCard } from '../../../components/shown/cards.tsx';
import { EmptyState, Loaded } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { useStepFocus } from '../../../components/form/focus.ts';
import { useMay } from '../../../session.ts';
import { deliverWords } from '../answers/deliver.ts';
import { useAgent } from '../queries.ts';
import { HookDetail } from './hook-detail.tsx';
import { HookForm, MadeDialog } from './hook-form.tsx';
import type { MadeHook } from './hook-form.tsx';
import { hooksQuery, signatureTitles } from './queries.ts';
import { hooksRoute } from '../routes.ts';

export function HooksPage() {
  const { hook, form } = hooksRoute.useSearch();
  const mayChange = useMay('agents:write');
  const { id: agentId } = useAgent();
  const navigate = useNavigate();
  const [made, setMade] = useState<MadeHook>();
  const go = (search: { hook?: string }) => void navigate({ to: hooksRoute.to, params: { agentId }, search });
  if (made !== undefined) {
    return (
      <MadeDialog
        made={made}
        onClose={() => {
          setMade(undefined);
          go({ hook: made.hook.id });
        }}
      />
    );
  }
  if (hook !== undefined) {
    return <OneHook key={hook} agentId={agentId} id={hook} mayChange={mayChange} onDeleted={() => go({})} />;
  }
  if (form === 'add' && mayChange) {
    return <NewHook agentId={agentId} onMade={setMade} onCancel={() => go({})} />;
  }
  return <AllHooks agentId={agentId} mayChange={mayChange} />;
}

function NewHook(props: ComponentProps<typeof HookForm>) {
  useStepFocus();
  return (
    <TabPage width="form" title="Hooks" actions={<Back agentId={props.agentId} />}>
      <HookForm {...props} />
    </TabPage>
  );
}

function Back({ agentId }: { readonly agentId: string }) {
  return (
    <Link to={hooksRoute.to} params={{ agentId }} search={{}} className={backLinkClass}>
      <BackWords>All hooks</BackWords>
    </Link>
  );
}

interface OneProps {
  readonly agentId: string;
  readonly id: string;
  readonly mayChange: boolean;
  readonly onDeleted: () => void;
}

function OneHook({ agentId, id, mayChange, onDeleted }: OneProps) {
  useStepFocus();
  const hooks = useQuery(hooksQuery(agentId));
  const hook = hooks.data?.find((one) => one.id === id);
  return (
    <TabPage title={hook?.name ?? 'Hook'} actions={<Back agentId={agentId} />}>
      <LoadedCard query={hooks}>
        {() =>
          hook === undefined ? (
            <Card>
              <EmptyState Icon={Webhook} title="There is no such hook">
                It may have been deleted.
              </EmptyState>
            </Card>
          ) : (
            <HookDetail hook={hook} mayChange={mayChange} onDeleted={onDeleted} />
          )
        }
      </LoadedCard>
    </TabPage>
  );
}

const columns: readonly Column<Hook>[] = [
  {
    header: 'Name',
    cell: (hook) => (
      <Link
        to={hooksRoute.to}
        params={{ agentId: hook.agent_id }}
        search={{ hook: hook.id }}
        className="wrap-anywhere text-accent hover:underline"
      >
        {hook.name}
      </Link>
    ),
  },
  { header: 'Token', cell: ({ last4 }) => <span className="font-mono text-[0.8125rem]">…{last4}</span> },
  {
    header: 'Signature',
    cell: ({ signature }) =>
      signature === undefined ? <span className="text-muted">None</span> : signatureTitles[signature.type],
  },
  {
    header: 'Answer',
    cell: ({ deliver }) => <span className="wrap-anywhere">{deliverWords(deliver, 'In the agent’s log')}</span>,
  },
  { header: 'Made', cell: ({ created_at: made }) => <Time value={made} /> },
];

function AllHooks({ agentId, mayChange }: { readonly agentId: string; readonly mayChange: boolean }) {
  useStepFocus();
  const hooks = useQuery(hooksQuery(agentId));
  const add = mayChange && (
    <Link to={hooksRoute.to} params={{ agentId }} search={{ form: 'add' }} className={buttonClass('primary')}>
      <Plus aria-hidden className="size-4" />
      New hook
    </Link>
  );
  return (
    <TabPage
      width="wide"
      title="Hooks"
      description="Addresses at which a third party’s webhook becomes a message to the agent."
      actions={hooks.data?.length !== 0 && add}
    >
      <Card>
        <Loaded query={hooks}>
          {(data) =>
            data.length === 0 ? (
              <EmptyState Icon={Webhook} title="No hooks yet" action={add}>
                GitHub, Stripe and anything that sends JSON can speak to the agent by a hook.
              </EmptyState>
            ) : (
              <DataTable label="Hooks" columns={columns} rows={data} keyOf={({ id }) => id} />
            )
          }
        </Loaded>
      </Card>
    </TabPage>
  );
}
