import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Agent, Snapshot } from '@lodge/sdk';
import { Camera, GitFork, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { keepTyped, typedAt } from '../../../components/form/typed.ts';
import { Failure } from '../../../components/notice.tsx';
import { TabPage } from '../../../components/page.tsx';
import { Card } from '../../../components/shown/cards.tsx';
import { Paged, usePages } from '../../../components/shown/paged.tsx';
import { EmptyState } from '../../../components/states.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { useMay } from '../../../session.ts';
import { useAgent } from '../queries.ts';
import { FilesDialog } from './files-dialog.tsx';
import { ForkDialog } from './fork-dialog.tsx';
import { PlanCard } from './plan-card.tsx';
import { snapshotChanges, snapshotsKey, snapshotsPage } from './queries.ts';
import { RestoreDialog } from './restore-dialog.tsx';
import { SnapshotDialog, snapshotDraft } from './snapshot-dialog.tsx';
import { SnapshotTable } from './snapshot-table.tsx';
import type { Open } from './snapshot-table.tsx';
import { titleOf } from './snapshot-words.ts';

/** The agent's machine as it was, and the ways back to it. */
export function SnapshotsPage() {
  const agent = useAgent();
  const { id, name, status } = agent;
  const mayChange = useMay('agents:write');
  const query = usePages(snapshotsKey(id), snapshotsPage(id));
  // A dialog in which something was typed before is open again.
  const [open, setOpen] = useState<Open | null>(() =>
    mayChange && typedAt(snapshotDraft(id)) !== null ? { kind: 'save' } : null,
  );
  const pin = usePin(id);
  const close = (): void => {
    if (open?.kind === 'save') keepTyped(snapshotDraft(id), null);
    if (open?.kind === 'change') keepTyped(snapshotDraft(id, open.snapshot.id), null);
    setOpen(null);
  };
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <TabPage
      width="wide"
      title="Snapshots"
      description="The machine as it was: files, memory and what it remembers. The agent can go back to one, and others can begin from it."
      actions={mayChange && status !== 'provisioning' && <PageActions canUndo={rows.some(isReady)} open={setOpen} />}
    >
      <Failure error={pin.error} />
      <Card>
        <Paged query={query}>
          {() =>
            rows.length === 0 ? (
              <EmptyState Icon={Camera} title="No snapshots yet">
                Save {name.slice(0, 60)} before it tries something that you may want to undo.
              </EmptyState>
            ) : (
              <SnapshotTable rows={rows} acts={{ open: setOpen, pin: mayChange ? pin : undefined }} />
            )
          }
        </Paged>
      </Card>
      <div className="max-w-3xl">
        <PlanCard agentId={id} />
      </div>
      <OpenDialog agent={agent} rows={rows} open={open} onClose={close} />
    </TabPage>
  );
}

interface ActionsProps {
  readonly canUndo: boolean;
  readonly open: (what: Open) => void;
}

function PageActions({ canUndo, open }: ActionsProps) {
  return (
    <div className="flex flex-wrap gap-2">
      {canUndo && (
        <Button onClick={() => open({ kind: 'undo' })}>
          <Undo2 aria-hidden className="size-4" />
          Undo last turn
        </Button>
      )}
      <Button onClick={() => open({ kind: 'fork' })}>
        <GitFork aria-hidden className="size-4" />
        Fork
      </Button>
      <Button variant="primary" onClick={() => open({ kind: 'save' })}>
        <Camera aria-hidden className="size-4" />
        Save now
      </Button>
    </div>
  );
}

const isReady = ({ status }: Snapshot): boolean => status === 'ready';

interface OpenDialogProps {
  readonly agent: Agent;
  readonly rows: readonly Snapshot[];
  readonly open: Open | null;
  readonly onClose: () => void;
}

function OpenDialog({ agent, rows, open, onClose }: OpenDialogProps) {
  switch (open?.kind) {
    case undefined:
      return null;
    case 'save':
      return <SnapshotDialog agent={agent} onClose={onClose} />;
    case 'change':
      return <SnapshotDialog agent={agent} snapshot={open.snapshot} onClose={onClose} />;
    case 'files': {
      const others = rows.filter((row) => isReady(row) && row.id !== open.snapshot.id);
      return <FilesDialog agent={agent} snapshot={open.snapshot} others={others} onClose={onClose} />;
    }
    case 'undo':
      return <RestoreDialog agent={agent} onClose={onClose} />;
    case 'restore':
      return <RestoreDialog agent={agent} snapshot={open.snapshot} onClose={onClose} />;
    case 'fork':
      return <ForkDialog agent={agent} {...(open.snapshot && { snapshot: open.snapshot })} onClose={onClose} />;
    case 'delete':
      return <DeleteDialog agentId={agent.id} snapshot={open.snapshot} onClose={onClose} />;
  }
}

function usePin(agentId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, pinned }: Snapshot) => snapshotChanges.update(id, { pinned: !pinned }),
    onSuccess: ({ pinned }) => {
      toast(pinned ? 'It is kept beyond the agent.' : 'It goes with the agent.');
      return client.invalidateQueries({ queryKey: snapshotsKey(agentId) });
    },
  });
}

interface DeleteProps {
  readonly agentId: string;
  readonly snapshot: Snapshot;
  readonly onClose: () => void;
}

function DeleteDialog({ agentId, snapshot, onClose }: DeleteProps) {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={`Delete ${titleOf(snapshot)}?`}
      action="Delete snapshot"
      run={() => snapshotChanges.remove(snapshot.id)}
      onClose={onClose}
      onDone={() => {
        toast('The snapshot is deleted.');
        void client.invalidateQueries({ queryKey: snapshotsKey(agentId) });
      }}
    >
      Nothing can go back to it any more. Agents that began from it go on.
    </ConfirmDialog>
  );
}
