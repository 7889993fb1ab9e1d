import { useInfiniteQuery } from '@tanstack/react-query';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { FileList } from '@lodge/sdk';
import { FileUp, FolderOpen } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { cx } from '../../../components/cx.ts';
import { Notice } from '../../../components/notice.tsx';
import { EmptyState, ErrorState, SkeletonRows } from '../../../components/states.tsx';
import { useMay } from '../../../session.ts';
import { filesOfDrop, maxFiles } from './upload/dropped-files.ts';
import { FileTable } from './file-table.tsx';
import type { FileAction } from './file-table.tsx';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { FileDialog } from './file-dialogs.tsx';
import { joined } from './file-paths.ts';
import { FolderActions } from './folder-actions.tsx';
import { folderQuery } from './queries.ts';
import type { GivenFile, UploadQueue } from './upload/upload-queue.ts';

interface PaneProps {
  readonly agentId: string;
  readonly path: string;
  readonly queue: UploadQueue;
}

/** The content of a folder. Files are dropped anywhere on it. */
export function FolderPane({ agentId, path, queue }: PaneProps) {
  const folder = useInfiniteQuery(folderQuery(agentId, path));
  const mayWrite = useMay('agents:write');
  const [dialog, setDialog] = useState<FileAction>();
  const [problem, setProblem] = useState<string>();
  const give = (read: () => readonly GivenFile[] | Promise<readonly GivenFile[]>): void => {
    void add(read, path, queue).then(setProblem);
  };
  const drop = useDrop(mayWrite, (transfer) => give(() => filesOfDrop(transfer)));
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <Breadcrumbs path={path} isFile={false} />
        <FolderActions
          agentId={agentId}
          path={path}
          mayWrite={mayWrite}
          isRefreshing={folder.isFetching}
          refresh={() => void folder.refetch()}
          give={give}
          open={setDialog}
        />
      </div>
      {problem !== undefined && (
        <Notice kind="error" alert>
          {problem}
        </Notice>
      )}
      <div
        {...drop.handlers}
        className={cx(
          'relative overflow-hidden rounded-card border bg-surface shadow-card',
          drop.isOver ? 'border-accent outline-2 outline-accent' : 'border-line',
        )}
      >
        <FolderContents folder={folder} mayWrite={mayWrite} open={setDialog} />
        {drop.isOver && (
          <div className="pointer-events-none absolute inset-0 flex items-center justify-center bg-accent-soft/90 font-medium text-accent">
            <FileUp aria-hidden className="mr-2 size-5" />
            Drop to upload here
          </div>
        )}
      </div>
      {dialog !== undefined && (
        <FileDialog agentId={agentId} folder={path} action={dialog} onClose={() => setDialog(undefined)} />
      )}
    </div>
  );
}

interface ContentsProps {
  readonly folder: UseInfiniteQueryResult<InfiniteData<FileList>>;
  readonly mayWrite: boolean;
  readonly open: (action: FileAction) => void;
}

function FolderContents({ folder, mayWrite, open }: ContentsProps) {
  if (folder.data === undefined) {
    if (folder.error === null) return <SkeletonRows rows={6} />;
    return <ErrorState error={folder.error} retry={() => void folder.refetch()} pending={folder.isFetching} />;
  }
  const entries = folder.data.pages.flatMap(({ data }) => data);
  if (entries.length === 0) {
    return (
      <EmptyState Icon={FolderOpen} title="This folder is empty">
        {mayWrite
          ? 'Drop files here, or upload some: the agent finds them in its workspace.'
          : 'What the agent writes appears here.'}
      </EmptyState>
    );
  }
  return (
    <>
      {folder.error !== null && (
        <Notice kind="error" alert>
          The folder could not be read anew. What is shown may be old.
        </Notice>
      )}
      <FileTable entries={entries} mayWrite={mayWrite} open={open} />
      {folder.hasNextPage && (
        <div className="flex justify-center border-t border-line p-3">
          <Button small pending={folder.isFetchingNextPage} onClick={() => void folder.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

/** Queues the files for this folder. Returns what went wrong, if anything. */
async function add(
  read: () => readonly GivenFile[] | Promise<readonly GivenFile[]>,
  folder: string,
  queue: UploadQueue,
): Promise<string | undefined> {
  try {
    const files = await read();
    queue.add(files.map(({ file, path }) => ({ file, path: joined(folder, path) })));
    return files.length === 0 ? 'There was no file in this. An empty folder is made by “New folder”.' : undefined;
  } catch (error) {
    if (error instanceof RangeError)
      return `A page takes up to ${maxFiles} files at once. Use the command line for more.`;
    return 'The browser did not let the page read this.';
  }
}

/** A place where files are dropped. `isOver` while some are held above it. */
function useDrop(enabled: boolean, onDrop: (transfer: DataTransfer) => void) {
  const [depth, setDepth] = useState(0);
  useNoStrayDrop();
  if (!enabled) return { isOver: false, handlers: {} };
  const hasFiles = (event: React.DragEvent): boolean => event.dataTransfer.types.includes('Files');
  return {
    isOver: depth > 0,
    handlers: {
      onDragEnter: (event: React.DragEvent) => {
        if (hasFiles(event)) setDepth((before) => before + 1);
      },
      onDragLeave: (event: React.DragEvent) => {
        if (hasFiles(event)) setDepth((before) => Math.max(0, before - 1));
      },
      onDragOver: (event: React.DragEvent) => {
        if (hasFiles(event)) event.preventDefault();
      },
      onDrop: (event: React.DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setDepth(0);
        onDrop(event.dataTransfer);
      },
    },
  };
}

/** A file that falls beside the place would replace the page. */
function useNoStrayDrop(): void {
  useEffect(() => {
    const stay = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    window.addEventListener('dragover', stay);
    window.addEventListener('drop', stay);
    return () => {
      window.removeEventListener('dragover', stay);
      window.removeEventListener('drop', stay);
    };
  }, []);
}
