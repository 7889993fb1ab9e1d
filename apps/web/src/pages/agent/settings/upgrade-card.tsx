import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowUpCircle } from 'lucide-react';
import { useState } from 'react';
import type { Agent } from '@lodge/sdk';
import { ApiError, change, lodge } from '../../../api.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { FormCard } from '../../../components/shown/cards.tsx';
import { Failure } from '../../../components/notice.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { agentQuery } from '../queries.ts';

const waitMs = 150_000;

/** Offers the newest image, and says what that does. */
export function UpgradeCard({ agent }: { readonly agent: Agent }) {
  const client = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const upgrade = useMutation({
    mutationFn: () => change(() => lodge.agents.upgrade(agent.id, {}, { timeoutMs: waitMs })),
    onSuccess: (now) => {
      client.setQueryData(agentQuery(agent.id).queryKey, now);
      if (now.transition === null) toast(`${agent.name} is upgraded.`);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['agent', agent.id] }),
  });
  // No event tells how far an upgrade is.
  const isUnderWay = agent.transition?.kind === 'upgrade' || upgrade.isPending;
  useQuery({ ...agentQuery(agent.id), refetchInterval: isUnderWay ? 2_000 : false });
  const { error } = upgrade;
  const runtime = agent.runtime === null ? null : `${agent.runtime.name} ${agent.runtime.version}`;
  return (
    <FormCard
      title="Upgrade"
      description={
        <>
          A newer version of its software is ready{runtime !== null && `; it runs ${runtime}`}. Its files, conversations
          and settings stay. What was installed outside its home and workspace does not.
        </>
      }
    >
      <Failure error={error} here={error instanceof ApiError ? { [error.code]: error.message } : {}} />
      <div className="flex flex-wrap items-center gap-3">
        <Button variant="primary" pending={isUnderWay} onClick={() => setIsAsking(true)}>
          <ArrowUpCircle aria-hidden className="size-4" />
          {isUnderWay ? 'Upgrading…' : 'Upgrade'}
        </Button>
        {isUnderWay && (
          <span role="status" className="text-muted">
            Its machine is made anew. The old one is kept until the new one answers.
          </span>
        )}
      </div>
      {isAsking && (
        <ConfirmDialog
          title={`Upgrade ${agent.name}?`}
          action="Upgrade"
          run={() => {
            upgrade.mutate();
            return Promise.resolve();
          }}
          onClose={() => setIsAsking(false)}
          onDone={() => undefined}
        >
          It ends its turn, is stopped, and starts from the newest image: about a minute. When the new machine does not
          answer, the old one comes back with its memory.
        </ConfirmDialog>
      )}
    </FormCard>
  );
}
