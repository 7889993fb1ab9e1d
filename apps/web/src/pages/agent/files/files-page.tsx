import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { TabPage } from '../../../components/page.tsx';
import { MachineGate } from '../machine-gate.tsx';
import { useAgent } from '../queries.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { FilePane } from './file-pane.tsx';
import { FolderPane } from './folder-pane.tsx';
import { filesRoute } from '../routes.ts';
import { uploadsOf } from './upload/upload-queue.ts';
import type { UploadQueue } from './upload/upload-queue.ts';
import { UploadList } from './upload/upload-list.tsx';

/** The agent's workspace: one folder, or one file in it. */
export function FilesPage() {
  const agent = useAgent();
  const { path = '', file } = filesRoute.useSearch();
  const queue = uploadsOf(agent.id);
  useFreshFolder(agent.id, queue);
  return (
    <TabPage
      title="Files"
      description="The agent’s workspace: what it works with, and what you give it and take from it."
    >
      <MachineGate agent={agent} what="its files">
        {file === undefined ? (
          <FolderPane key={path} agentId={agent.id} path={path} queue={queue} />
        ) : (
          <>
            <Breadcrumbs path={file} isFile />
            <FilePane key={file} agentId={agent.id} path={file} />
          </>
        )}
        <UploadList queue={queue} />
      </MachineGate>
    </TabPage>
  );
}

const gatherMs = 400;

/** Reads the folder again when files have arrived: once for those that arrive together. */
function useFreshFolder(agentId: string, queue: UploadQueue): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = queue.onDone(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'files', 'folder'] });
      }, gatherMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [agentId, queue, queryClient]);
}
