import { useMutation } from '@tanstack/react-query';
import { FileDown, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { explain } from '../../../messages.ts';
import { download } from './files.ts';

const here = {
  file_not_found: 'There is no such file in the workspace now.',
  not_a_file: 'This is a folder of the workspace.',
};

/** A link to a file of the workspace, which saves it. */
export function FileLink({ agentId, path, children }: { agentId: string; path: string; children: ReactNode }) {
  const saving = useMutation({ mutationFn: () => download(agentId, path) });
  const Icon = saving.isPending ? LoaderCircle : FileDown;
  return (
    <span className="wrap-anywhere">
      <button
        type="button"
        title={`Save /workspace/${path}`}
        aria-busy={saving.isPending}
        onClick={() => {
          if (!saving.isPending) saving.mutate();
        }}
        className="inline text-left text-accent underline underline-offset-2 hover:text-accent-hover"
      >
        <Icon aria-hidden className={`mr-1 inline size-3.5 align-[-2px] ${saving.isPending ? 'animate-spin' : ''}`} />
        {children}
      </button>
      {saving.error !== null && (
        <span role="alert" className="text-danger">
          {' '}
          {explain(saving.error, here)}
        </span>
      )}
    </span>
  );
}
