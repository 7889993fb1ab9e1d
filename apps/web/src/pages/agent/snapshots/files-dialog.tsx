import type { Agent, Snapshot, SnapshotFile } from '@lodge/sdk';
import { Download, File, Folder, House } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { Paged, usePages } from '../../../components/shown/paged.tsx';
import { Time } from '../../../components/time.tsx';
import { visibleName } from '../../../components/words/visible-text.ts';
import { formatSize, nameOf, stepsTo } from '../files/file-paths.ts';
import { Differences } from './differences.tsx';
import { snapshotDownload, snapshotFilesKey, snapshotFilesPage } from './queries.ts';
import { titleOf } from './snapshot-words.ts';

interface FilesProps {
  readonly agent: Agent;
  readonly snapshot: Snapshot;
  /** Those that it can be compared with. */
  readonly others: readonly Snapshot[];
  readonly onClose: () => void;
}

/** The workspace as a snapshot has it, and how another one or the present differs from that. */
export function FilesDialog({ agent, snapshot, others, onClose }: FilesProps) {
  const [path, setPath] = useState('');
  return (
    <Dialog
      title={`Files of ${titleOf(snapshot)}`}
      description="The workspace as it was. The first download takes as long as a start of the agent."
      onClose={onClose}
    >
      <section aria-label="Files" className="flex flex-col gap-2">
        <Steps path={path} open={setPath} />
        <div className="max-h-96 overflow-y-auto rounded-control border border-line">
          <FolderOf key={path} agentId={agent.id} snapshotId={snapshot.id} path={path} open={setPath} />
        </div>
      </section>
      <Differences agent={agent} snapshot={snapshot} others={others} />
    </Dialog>
  );
}

interface StepsProps {
  readonly path: string;
  readonly open: (path: string) => void;
}

function Steps({ path, open }: StepsProps) {
  return (
    <nav aria-label="Folder" className="flex flex-wrap items-center">
      <Button small variant="ghost" onClick={() => open('')}>
        <House aria-hidden className="size-4 text-muted" />
        workspace
      </Button>
      {stepsTo(path).map((step) => (
        <Button key={step} small variant="ghost" className="max-w-full" onClick={() => open(step)}>
          <bdi className="truncate">/ {visibleName(nameOf(step))}</bdi>
        </Button>
      ))}
    </nav>
  );
}

interface FolderProps extends StepsProps {
  readonly agentId: string;
  readonly snapshotId: string;
}

function FolderOf({ agentId, snapshotId, path, open }: FolderProps) {
  const query = usePages(snapshotFilesKey(agentId, snapshotId, path), snapshotFilesPage(snapshotId, path));
  return (
    <Paged query={query}>
      {(entries) =>
        entries.length === 0 ? (
          <p className="px-4 py-6 text-center text-muted">This folder is empty.</p>
        ) : (
          <ul className="divide-y divide-line">
            {entries.map((entry) => (
              <li key={entry.path} className="flex items-center gap-2.5 px-4 py-2">
                <Entry entry={entry} snapshotId={snapshotId} open={open} />
              </li>
            ))}
          </ul>
        )
      }
    </Paged>
  );
}

interface EntryProps {
  readonly entry: SnapshotFile;
  readonly snapshotId: string;
  readonly open: (path: string) => void;
}

function Entry({ entry, snapshotId, open }: EntryProps) {
  const { type, path, size, modified_at: at } = entry;
  const name = visibleName(entry.name);
  if (type === 'directory') {
    return (
      <>
        <Folder aria-hidden className="size-4 shrink-0 text-muted" />
        <button type="button" className="min-w-0 text-left font-medium hover:underline" onClick={() => open(path)}>
          <bdi className="wrap-anywhere">{name}</bdi>
        </button>
      </>
    );
  }
  return (
    <>
      <File aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0 grow">
        <bdi className="wrap-anywhere">{name}</bdi>
        <span className="block text-[0.8125rem] text-muted">
          {type === 'file' ? `${formatSize(size)} · ` : 'A link, or no file · '}
          <Time value={at} />
        </span>
      </span>
      {type === 'file' && (
        <a
          href={snapshotDownload(snapshotId, path)}
          download=""
          aria-label={`Download ${name}`}
          title="Download"
          className="inline-flex size-8 shrink-0 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
        >
          <Download aria-hidden className="size-4" />
        </a>
      )}
    </>
  );
}
