import type { Port } from '@lodge/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Failure } from '../../../components/notice.tsx';
import { OutwardLink } from '../../../components/shown/links.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { portChanges, useOpenPage } from './queries.ts';

interface RowProps {
  readonly agentId: string;
  readonly port: Port;
  readonly mayChange: boolean;
}

export function PortRow({ agentId, port, mayChange }: RowProps) {
  const queryClient = useQueryClient();
  const changes = portChanges(agentId);
  const [removing, setRemoving] = useState(false);
  const again = () => queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'ports'] });
  const open = useOpenPage(agentId);
  const turn = useMutation({
    mutationFn: () => changes.publish({ port: port.port, public: !port.public }),
    onSuccess: () => toast(port.public ? 'A key or a link is asked for now.' : 'Anybody reaches it now.'),
    onSettled: again,
  });
  return (
    <li className="flex flex-col gap-3 px-5 py-4 sm:px-6">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <PortFacts port={port} />
        {mayChange && (
          <div className="flex flex-wrap gap-2">
            {!port.public && (
              <Button
                small
                aria-label={`Open port ${port.port}`}
                pending={open.isPending}
                onClick={() => open.mutate({ page: 'port', port: port.port })}
              >
                <ExternalLink aria-hidden className="size-4" />
                Open
              </Button>
            )}
            <Button small pending={turn.isPending} onClick={() => turn.mutate()}>
              {port.public ? 'Make private' : 'Make public'}
            </Button>
            <Button
              small
              variant="ghost-danger"
              aria-label={`Unpublish port ${port.port}`}
              onClick={() => setRemoving(true)}
            >
              Unpublish
            </Button>
          </div>
        )}
      </div>
      <Failure error={open.error ?? turn.error} />
      {removing && (
        <ConfirmDialog
          title={`Unpublish port ${port.port}?`}
          action="Unpublish"
          run={() => changes.unpublish(port.port)}
          onClose={() => setRemoving(false)}
          onDone={() => {
            toast(`Port ${port.port} is no longer published.`);
            void again();
          }}
        >
          Its address stops working at once, and open connections end.
        </ConfirmDialog>
      )}
    </li>
  );
}

function PortFacts({ port }: { readonly port: Port }) {
  return (
    <div className="flex min-w-0 grow basis-56 flex-col gap-1">
      <p className="flex flex-wrap items-center gap-2 font-medium">
        Port {port.port}
        <Badge tone={port.public ? 'warning' : 'quiet'}>{port.public ? 'Anybody' : 'Key or link'}</Badge>
      </p>
      <p className="font-mono text-[0.8125rem] wrap-anywhere text-muted">
        {port.public ? <OutwardLink href={port.url}>{port.url}</OutwardLink> : port.url}
      </p>
    </div>
  );
}
