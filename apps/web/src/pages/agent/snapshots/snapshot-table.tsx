import type { UseMutationResult } from '@tanstack/react-query';
import type { Snapshot } from '@lodge/sdk';
import { Badge } from '../../../components/badge.tsx';
import type { Tone } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import type { Column } from '../../../components/data-table.tsx';
import { Time } from '../../../components/time.tsx';
import { visibleName, visibleText } from '../../../components/words/visible-text.ts';
import { formatBytes } from '../../../format.ts';
import { keptWords, kindWords, loadWords, titleOf } from './snapshot-words.ts';

/** The dialog that is open. */
export type Open =
  | { readonly kind: 'save' }
  | { readonly kind: 'undo' }
  | { readonly kind: 'fork'; readonly snapshot?: Snapshot }
  | { readonly kind: 'files' | 'change' | 'restore' | 'delete'; readonly snapshot: Snapshot };

interface Acts {
  readonly open: (what: Open) => void;
  /** Undefined: they are only read. */
  readonly pin: UseMutationResult<Snapshot, Error, Snapshot> | undefined;
}

interface TableProps {
  readonly rows: readonly Snapshot[];
  readonly acts: Acts;
}

export function SnapshotTable({ rows, acts }: TableProps) {
  return <DataTable label="Snapshots" columns={[...columns, actionsOf(acts)]} rows={rows} keyOf={({ id }) => id} />;
}

const columns: readonly Column<Snapshot>[] = [
  { header: 'Name', cell: (snapshot) => <Name snapshot={snapshot} /> },
  { header: 'State', cell: (snapshot) => <State snapshot={snapshot} /> },
  {
    header: 'Has',
    cell: (snapshot) => (
      <span className="flex max-w-44 flex-col">
        {loadWords(snapshot)}
        <span className="text-[0.8125rem] text-muted tabular-nums">
          {formatBytes(snapshot.bytes + snapshot.disk_bytes)}
        </span>
      </span>
    ),
  },
  { header: 'Saved', cell: ({ created_at: at }) => <Time value={at} /> },
  { header: 'Kept', cell: (snapshot) => keptWords(snapshot) },
];

function Name({ snapshot: { name, note, kind } }: { readonly snapshot: Snapshot }) {
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      <bdi className="wrap-anywhere">{name === null ? kindWords[kind] : visibleName(name)}</bdi>
      {name !== null && kind !== 'named' && (
        <span className="text-[0.8125rem] font-normal text-muted">{kindWords[kind]}</span>
      )}
      {note !== null && (
        <bdi className="line-clamp-3 max-w-md text-[0.8125rem] font-normal wrap-anywhere whitespace-pre-wrap text-muted">
          {visibleText(note)}
        </bdi>
      )}
    </span>
  );
}

const stateWords: Readonly<Record<Snapshot['status'], { readonly label: string; readonly tone: Tone }>> = {
  saving: { label: 'Saving', tone: 'warning' },
  ready: { label: 'Ready', tone: 'good' },
  failed: { label: 'Not saved', tone: 'bad' },
  damaged: { label: 'Damaged', tone: 'bad' },
};

function State({ snapshot: { status, error } }: { readonly snapshot: Snapshot }) {
  const { label, tone } = stateWords[status];
  return (
    <span className="flex min-w-0 flex-col items-start gap-1">
      <Badge tone={tone}>{label}</Badge>
      {error !== null && (
        <span className="max-w-xs text-[0.8125rem] wrap-anywhere text-muted">{visibleText(error)}</span>
      )}
    </span>
  );
}

const actionsOf = (acts: Acts): Column<Snapshot> => ({
  header: 'Actions',
  actions: true,
  cell: (snapshot) => <Actions snapshot={snapshot} acts={acts} />,
});

function Actions({ snapshot, acts: { open, pin } }: { readonly snapshot: Snapshot; readonly acts: Acts }) {
  const { status } = snapshot;
  const title = titleOf(snapshot);
  if (status === 'saving') return null;
  return (
    <span className="flex flex-wrap gap-1 md:justify-end xl:flex-nowrap">
      {status === 'ready' && (
        <Button small aria-label={`Files of ${title}`} onClick={() => open({ kind: 'files', snapshot })}>
          Files
        </Button>
      )}
      {pin !== undefined && <Changes snapshot={snapshot} open={open} pin={pin} />}
    </span>
  );
}

interface ChangesProps {
  readonly snapshot: Snapshot;
  readonly open: Acts['open'];
  readonly pin: NonNullable<Acts['pin']>;
}

function Changes({ snapshot, open, pin }: ChangesProps) {
  const { id, status, pinned } = snapshot;
  const title = titleOf(snapshot);
  return (
    <>
      {status === 'ready' && (
        <>
          <Button small aria-label={`Go back to ${title}`} onClick={() => open({ kind: 'restore', snapshot })}>
            Go back
          </Button>
          <Button small aria-label={`Fork from ${title}`} onClick={() => open({ kind: 'fork', snapshot })}>
            Fork
          </Button>
        </>
      )}
      <Button small variant="ghost" aria-label={`Change ${title}`} onClick={() => open({ kind: 'change', snapshot })}>
        Change
      </Button>
      <Button
        small
        variant="ghost"
        aria-label={`${pinned ? 'Unpin' : 'Pin'} ${title}`}
        pending={pin.isPending && pin.variables.id === id}
        onClick={() => pin.mutate(snapshot)}
      >
        {pinned ? 'Unpin' : 'Pin'}
      </Button>
      <Button
        small
        variant="ghost-danger"
        aria-label={`Delete ${title}`}
        onClick={() => open({ kind: 'delete', snapshot })}
      >
        Delete
      </Button>
    </>
  );
}
