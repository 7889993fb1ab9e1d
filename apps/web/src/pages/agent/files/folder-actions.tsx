import { FilePlus, FileUp, FolderDown, FolderPlus, FolderUp, RotateCw } from 'lucide-react';
import { useRef } from 'react';
import type { ChangeEvent } from 'react';
import { Button, IconButton } from '../../../components/button.tsx';
import { cx } from '../../../components/cx.ts';
import { filesOfInput } from './upload/dropped-files.ts';
import type { FileAction } from './file-table.tsx';
import { FolderDownload } from './download/folder-download.tsx';
import type { GivenFile } from './upload/upload-queue.ts';

interface ActionsProps {
  readonly agentId: string;
  readonly path: string;
  readonly mayWrite: boolean;
  readonly isRefreshing: boolean;
  readonly refresh: () => void;
  readonly give: (read: () => readonly GivenFile[]) => void;
  readonly open: (action: FileAction) => void;
}

/** The actions on the folder. */
export function FolderActions({ agentId, path, mayWrite, isRefreshing, refresh, give, open }: ActionsProps) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const chosen = ({ currentTarget }: ChangeEvent<HTMLInputElement>): void => {
    const { files: given } = currentTarget;
    if (given !== null) give(() => filesOfInput(given));
    // The same file can be chosen again.
    queueMicrotask(() => (currentTarget.value = ''));
  };
  return (
    <div role="group" aria-label="Folder actions" className="flex flex-wrap items-center gap-2">
      {mayWrite && (
        <>
          <Button variant="primary" small onClick={() => files.current?.click()}>
            <FileUp aria-hidden className="size-4" />
            Upload files
          </Button>
          <Button small onClick={() => folder.current?.click()} className="max-sm:hidden">
            <FolderUp aria-hidden className="size-4" />
            Upload folder
          </Button>
          <Button small onClick={() => open({ kind: 'new-file' })}>
            <FilePlus aria-hidden className="size-4" />
            New file
          </Button>
          <Button small onClick={() => open({ kind: 'new-folder' })}>
            <FolderPlus aria-hidden className="size-4" />
            New folder
          </Button>
          <input ref={files} type="file" multiple hidden aria-label="Files to upload" onChange={chosen} />
          <input ref={folder} type="file" webkitdirectory="" hidden aria-label="Folder to upload" onChange={chosen} />
        </>
      )}
      <FolderDownload
        agentId={agentId}
        path={path}
        Icon={FolderDown}
        label={path === '' ? 'Download all' : 'Download folder'}
      />
      <IconButton label="Read the folder again" aria-busy={isRefreshing} onClick={refresh} className="size-8!">
        <RotateCw aria-hidden className={cx('size-4', isRefreshing && 'animate-spin')} />
      </IconButton>
    </div>
  );
}

declare module 'react' {
  interface InputHTMLAttributes<T> {
    /** The input takes a folder. */
    webkitdirectory?: string;
  }
}
