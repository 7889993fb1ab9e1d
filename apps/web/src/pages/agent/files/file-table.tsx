import { Link } from '@tanstack/react-router';
import type { AgentFile } from '@lodge/sdk';
import { Download, File, FileImage, FileText, Folder, Link2, Pencil, Trash2 } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { IconButton } from '../../../components/button.tsx';
import { cx } from '../../../components/cx.ts';
import { Time } from '../../../components/time.tsx';
import { visibleName } from '../../../components/words/visible-text.ts';
import { downloadAddress, formatSize } from './file-paths.ts';
import { isMarkdown, pictureTypeOf } from './open-file.ts';
import { filesRoute } from '../routes.ts';
import { useAgent } from '../queries.ts';

export type FileAction =
  | { readonly kind: 'new-file' | 'new-folder' }
  | { readonly kind: 'rename' | 'delete'; readonly entry: AgentFile };

interface TableProps {
  readonly entries: readonly AgentFile[];
  readonly mayWrite: boolean;
  readonly open: (action: FileAction) => void;
}

const cell = 'px-3 py-3 first:pl-5 last:pr-4';
const head = cx(cell, 'py-2.5! text-left text-[0.8125rem] font-medium text-muted');

/** A folder's entries: folders first, then files, each by name. A narrow screen has size and time below the name. */
export function FileTable({ entries, mayWrite, open }: TableProps) {
  const sorted = [...entries].sort((one, other) => Number(isFolder(other)) - Number(isFolder(one)));
  return (
    <table aria-label="Files" className="w-full">
      <thead className="max-md:sr-only">
        <tr className="border-b border-line">
          <th scope="col" className={cx(head, 'w-full')}>
            Name
          </th>
          <th scope="col" className={head}>
            Size
          </th>
          <th scope="col" className={head}>
            Changed
          </th>
          <th scope="col" className={head}>
            <span className="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody className="divide-y divide-line">
        {sorted.map((entry) => (
          <tr key={entry.path} className="align-top hover:bg-hover/50">
            <th scope="row" className={cx(cell, 'text-left font-medium')}>
              <EntryName entry={entry} />
              <span className="mt-0.5 block pl-6.5 text-[0.8125rem] font-normal text-muted md:hidden">
                {entry.type === 'file' && `${formatSize(entry.size)} · `}
                <Time value={entry.modified_at} />
              </span>
            </th>
            <td className={cx(cell, 'whitespace-nowrap text-muted tabular-nums max-md:hidden')}>
              {entry.type === 'file' ? formatSize(entry.size) : '–'}
            </td>
            <td className={cx(cell, 'text-muted max-md:hidden')}>
              <Time value={entry.modified_at} />
            </td>
            <td className={cell}>
              <EntryActions entry={entry} mayWrite={mayWrite} open={open} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
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
    <span className="-my-1.5 flex justify-end gap-0.5">
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
