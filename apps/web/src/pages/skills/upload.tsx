import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Upload } from 'lucide-react';
import { useRef } from 'react';
import { change, hasCode, lodge } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { Failure } from '../../components/notice.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { Findings, findingsOf } from './findings.tsx';
import { skillsQuery } from './queries.ts';

interface Sent {
  readonly archive: File;
  readonly acceptFindings: boolean;
}

/** Sends an archive of a skill. One that the review refuses is shown with its findings, and can be taken all the same. */
export function useUpload() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ archive, acceptFindings }: Sent) => {
      const type = archive.name.endsWith('.zip') ? 'zip' : 'tar.gz';
      return change(() => lodge.skills.addArchive(archive, { type, acceptFindings }));
    },
    onSuccess: ({ name, version }) => {
      toast(`“${name}” is in the library, as version ${version}.`);
      return client.invalidateQueries(skillsQuery);
    },
  });
}

export type Uploading = ReturnType<typeof useUpload>;

export function UploadButton({ upload }: { readonly upload: Uploading }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button variant="primary" pending={upload.isPending} onClick={() => input.current?.click()}>
        <Upload aria-hidden className="size-4" />
        Upload skill
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".zip,.tar.gz,.tgz"
        aria-label="Archive of the skill"
        onChange={({ currentTarget }) => {
          const [archive] = currentTarget.files ?? [];
          if (archive !== undefined) upload.mutate({ archive, acceptFindings: false });
          // The same file can be chosen again.
          queueMicrotask(() => (currentTarget.value = ''));
        }}
      />
    </>
  );
}

/** The reason why the last archive was not taken. */
export function UploadFailure({ upload }: { readonly upload: Uploading }) {
  const { error, variables } = upload;
  const findings = hasCode(error, 'skill_refused') ? findingsOf(error.details) : undefined;
  if (findings === undefined || variables === undefined) return <Failure error={error} />;
  return (
    <Dialog
      title="The review found what may harm"
      description="An agent does what a skill says. Look at each finding before you take it."
      onClose={() => upload.reset()}
    >
      <Findings findings={findings} />
      <DialogActions>
        <Button data-autofocus onClick={() => upload.reset()}>
          Cancel
        </Button>
        <Button variant="danger" onClick={() => upload.mutate({ ...variables, acceptFindings: true })}>
          Take it all the same
        </Button>
      </DialogActions>
    </Dialog>
  );
}
