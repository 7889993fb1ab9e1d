import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import type { Agent, LlmKeyCheck } from '@lodge/sdk';
import { change, lodge } from '../../../api.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { FormCard } from '../../../components/shown/cards.tsx';
import { Failure } from '../../../components/notice.tsx';
import { EmptyState } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { useMay } from '../../../session.ts';
import { providersQuery } from '../../create/queries.ts';
import { KeyDialog } from './key-dialog.tsx';

type Key = Agent['llm_keys'][number];
type Open = { readonly kind: 'set'; readonly provider: string | null } | { readonly kind: 'remove'; readonly key: Key };

/** Keys of providers. They are set, replaced, removed and checked, and never shown. */
export function KeysCard({ agent }: { readonly agent: Agent }) {
  const mayWrite = useMay('agents:write');
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const check = useMutation({ mutationFn: () => change(() => lodge.agents.checkLlmKeys(agent.id)) });
  const verdictOf = ({ provider }: Key): LlmKeyCheck | undefined =>
    check.data?.data.find((each) => each.provider === provider);
  return (
    <FormCard
      title="Keys"
      description="Keys of model providers. They stay on the host: the agent’s machine never sees them. A change is in effect at once."
    >
      {agent.llm_keys.length === 0 ? (
        <EmptyState Icon={KeyRound} title="No key">
          Its model calls go out without one, which only providers that the operator set up take.
        </EmptyState>
      ) : (
        <ul aria-label="Keys" className="divide-y divide-line rounded-control border border-line">
          {agent.llm_keys.map((key) => (
            <KeyRow key={key.provider} keyRecord={key} verdict={verdictOf(key)} mayWrite={mayWrite} open={setOpen} />
          ))}
        </ul>
      )}
      <Failure error={check.error} />
      {mayWrite && (
        <div className="flex flex-wrap gap-2">
          <Button small onClick={() => setOpen({ kind: 'set', provider: null })}>
            <Plus aria-hidden className="size-3.5" />
            Add a key
          </Button>
          {agent.llm_keys.length > 0 && (
            <Button small pending={check.isPending} onClick={() => check.mutate()}>
              {check.isPending ? 'Providers are asked…' : 'Check keys'}
            </Button>
          )}
        </div>
      )}
      {open?.kind === 'set' && (
        <KeyDialog agent={agent} provider={open.provider} onClose={close} onSaved={() => check.mutate()} />
      )}
      {open?.kind === 'remove' && <RemoveDialog agent={agent} keyRecord={open.key} onClose={close} />}
    </FormCard>
  );
}

interface KeyRowProps {
  readonly keyRecord: Key;
  readonly verdict: LlmKeyCheck | undefined;
  readonly mayWrite: boolean;
  readonly open: (what: Open) => void;
}

function KeyRow({ keyRecord: key, verdict, mayWrite, open }: KeyRowProps) {
  const name = useProviderName(key.provider);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3.5 py-2.5">
      <div className="flex min-w-40 grow basis-0 flex-col gap-0.5">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium wrap-anywhere">{name}</span>
          <span className="font-mono text-xs text-muted">…{key.last4}</span>
          {verdict !== undefined && <Verdict verdict={verdict} />}
        </p>
        <p className="text-[0.8125rem] text-muted">
          {verdict === undefined ? (
            <>
              Set <Time value={key.created_at} />
            </>
          ) : (
            verdict.message
          )}
        </p>
      </div>
      {mayWrite && (
        <div className="-mr-2 flex">
          <Button
            small
            variant="ghost"
            aria-label={`Replace the key of ${name}`}
            onClick={() => open({ kind: 'set', provider: key.provider })}
          >
            Replace
          </Button>
          <Button
            small
            variant="ghost-danger"
            aria-label={`Remove the key of ${name}`}
            onClick={() => open({ kind: 'remove', key })}
          >
            Remove
          </Button>
        </div>
      )}
    </li>
  );
}

function Verdict({ verdict: { works } }: { readonly verdict: LlmKeyCheck }) {
  if (works === null) return <Badge tone="quiet">Not known</Badge>;
  return works ? <Badge tone="good">Works</Badge> : <Badge tone="bad">Does not work</Badge>;
}

function useProviderName(id: string): string {
  const providers = useQuery(providersQuery);
  return providers.data?.find((provider) => provider.id === id)?.name ?? id;
}

interface RemoveDialogProps {
  readonly agent: Agent;
  readonly keyRecord: Key;
  readonly onClose: () => void;
}

function RemoveDialog({ agent, keyRecord: { provider }, onClose }: RemoveDialogProps) {
  const client = useQueryClient();
  const name = useProviderName(provider);
  return (
    <ConfirmDialog
      title={`Remove the key of ${name}?`}
      action="Remove key"
      run={() => change(() => lodge.agents.update(agent.id, { llm_keys: [{ provider, api_key: null }] }))}
      onClose={onClose}
      onDone={() => {
        toast('The key is removed.');
        void client.invalidateQueries({ queryKey: ['agent', agent.id] });
      }}
    >
      Model calls of {agent.name} to {name} fail from now on.
    </ConfirmDialog>
  );
}
