import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Download, LoaderCircle } from 'lucide-react';
import { useCallback } from 'react';
import type { ReactNode } from 'react';
import type { ShowFile } from '../../../components/markdown/safe-link.tsx';
import { visibleName } from '../../../components/words/visible-text.ts';
import { Reason } from '../../../components/notice.tsx';
import { pathTo } from '../../../paths.ts';
import { download } from './files.ts';

const here = {
  file_not_found: 'There is no such file in the workspace now.',
  not_a_file: 'This is a folder of the workspace.',
};

/** Returns what shows a link to a file of the agent's workspace. It keeps its identity. */
export function useFileLinks(agentId: string): ShowFile {
  return useCallback(
    (path, label) => (
      <FileLink agentId={agentId} path={path}>
        {label}
      </FileLink>
    ),
    [agentId],
  );
}

/** A file of the workspace: a link that shows it, and a button that saves it. */
function FileLink({ agentId, path, children }: { agentId: string; path: string; children: ReactNode }) {
  const saving = useMutation({ mutationFn: () => download(agentId, path) });
  const name = visibleName(path);
  const Icon = saving.isPending ? LoaderCircle : Download;
  return (
    <span className="wrap-anywhere">
      <Link
        to={pathTo('/agents/$agentId/files', agentId)}
        search={{ file: path }}
        title={`/workspace/${name}`}
        className="text-accent underline underline-offset-2 hover:text-accent-hover"
      >
        {children}
      </Link>
      <button
        type="button"
        aria-label={`Save ${name}`}
        title={`Save ${name}`}
        aria-busy={saving.isPending}
        onClick={() => {
          if (!saving.isPending) saving.mutate();
        }}
        className="ml-1 inline-flex size-6 items-center justify-center rounded-control align-middle text-muted hover:bg-hover hover:text-ink"
      >
        <Icon aria-hidden className={`size-3.5 ${saving.isPending ? 'animate-spin' : ''}`} />
      </button>
      {saving.error !== null && (
        <span role="alert" className="text-danger">
          {' '}
          <Reason error={saving.error} here={here} />
        </span>
      )}
    </span>
  );
}
