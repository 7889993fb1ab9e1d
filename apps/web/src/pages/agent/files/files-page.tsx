import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { TabPage } from '../../../components/page.tsx';
import { MachineGate } from '../machine-gate.tsx';
import { useAgent } from '../use-agent.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { FilePane } from './file-pane.tsx';
import { FolderPane } from './folder-pane.tsx';
import { filesRoute } from './route.ts';
import { uploadsOf } from './upload-queue.ts';
import { UploadList } from './upload-list.tsx';

/** The agent's workspace: one folder, or one file in it. */
export function FilesPage() {
  const agent = useAgent();
  const { path = '', file } = filesRoute.useSearch();
  const queryClient = useQueryClient();
  const queue = uploadsOf(agent.id);
  useEffect(
    () => queue.onDone(() => void queryClient.invalidateQueries({ queryKey: ['agent', agent.id, 'files', 'folder'] })),
    [queue, queryClient, agent.id],
  );
  return (
    <TabPage
      title="Files"
      description="The agent’s workspace: what it works with, and what you give it and take from it."
    >
      <MachineGate agent={agent} what="its files">
        <Breadcrumbs path={file ?? path} isFile={file !== undefined} />
        {file === undefined ? (
          <FolderPane key={path} agentId={agent.id} path={path} queue={queue} />
        ) : (
          <FilePane key={file} agentId={agent.id} path={file} />
        )}
        <UploadList queue={queue} />
      </MachineGate>
    </TabPage>
  );
}
