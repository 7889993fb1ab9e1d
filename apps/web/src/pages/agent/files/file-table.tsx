import { Link } from '@tanstack/react-router';
import type { AgentFile } from '@lodge/sdk';
import { Download, File, FileImage, FileText, Folder, Link2, Pencil, Trash2 } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { IconButton } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import type { Column } from '../../../components/data-table.tsx';
import { Time } from '../../../components/time.tsx';
import { visibleName } from '../../../components/visible-text.ts';
import { downloadAddress, formatSize } from './file-paths.ts';
import { isMarkdown, pictureTypeOf } from './open-file.ts';
import { filesRoute } from './route.ts';
import { useAgent } from '../use-agent.ts';

export type FileAction =
  | { readonly kind: 'new-file' | 'new-folder' }
  | { readonly kind: 'rename' | 'delete'; readonly entry: AgentFile };

interface TableProps {
  readonly entries: readonly AgentFile[];
  readonly mayWrite: boolean;
  readonly open: (action: FileAction) => void;
}

/** A folder's entries: folders first, then files, each by name. */
export function FileTable({ entries, mayWrite, open }: TableProps) {
  const sorted = [...entries].sort((one, other) => Number(isFolder(other)) - Number(isFolder(one)));
  const columns: Column<AgentFile>[] = [
    { header: 'Name', cell: (entry) => <EntryName entry={entry} /> },
    {
      header: 'Size',
      cell: ({ type, size }) => (
        <span className="whitespace-nowrap text-muted tabular-nums">{type === 'file' ? formatSize(size) : '–'}</span>
      ),
    },
    {
      header: 'Changed',
      cell: ({ modified_at: at }) => (
        <span className="text-muted">
          <Time value={at} />
        </span>
      ),
    },
    {
      header: 'Actions',
      actions: true,
      cell: (entry) => <EntryActions entry={entry} mayWrite={mayWrite} open={open} />,
    },
  ];
  return <DataTable label="Files" columns={columns} rows={sorted} keyOf={({ path }) => path} />;
}

const isFolder = ({ type }: AgentFile): boolean => type === 'directory';

function iconOf({ type, name }: AgentFile): LucideIcon {
  if (type === 'directory') return Folder;
  if (type === 'symlink') return Link2;
  if (pictureTypeOf(name) !== undefined) return FileImage;
  return isMarkdown(name) ? FileText : File;
}

function EntryName({ entry }: { entry: AgentFile }) {
  const { type, path, name, target } = entry;
  const Icon = iconOf(entry);
  const shown = <bdi className="wrap-anywhere">{visibleName(name)}</bdi>;
  return (
    <span className="flex min-w-0 items-start gap-2.5">
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
      {type === 'other' ? (
        <span className="text-muted">{shown}</span>
      ) : (
        <Link
          from={filesRoute.fullPath}
          search={type === 'directory' ? { path } : { file: path }}
          className="min-w-0 hover:text-accent hover:underline"
        >
          {shown}
        </Link>
      )}
      {target !== null && (
        <span className="min-w-0 font-normal wrap-anywhere text-muted">
          → <bdi>{visibleName(target)}</bdi>
        </span>
      )}
    </span>
  );
}

function EntryActions({ entry, mayWrite, open }: { entry: AgentFile; mayWrite: boolean; open: TableProps['open'] }) {
  const { id } = useAgent();
  const name = visibleName(entry.name);
  return (
    <span className="flex justify-end gap-0.5 max-md:justify-start md:-my-1.5">
      {entry.type === 'file' && (
        <a
          href={downloadAddress(id, entry.path)}
          download=""
          aria-label={`Download ${name}`}
          title="Download"
          className="inline-flex size-8 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
        >
          <Download aria-hidden className="size-4" />
        </a>
      )}
      {mayWrite && (
        <>
          <IconButton
            label={`Rename ${name}`}
            title="Rename"
            onClick={() => open({ kind: 'rename', entry })}
            className="size-8!"
          >
            <Pencil aria-hidden className="size-4" />
          </IconButton>
          <IconButton
            label={`Delete ${name}`}
            title="Delete"
            onClick={() => open({ kind: 'delete', entry })}
            className="size-8! hover:text-danger!"
          >
            <Trash2 aria-hidden className="size-4" />
          </IconButton>
        </>
      )}
    </span>
  );
}
