import { useQueryClient } from '@tanstack/react-query';
import type { AgentFile } from '@lodge/sdk';
import { change, hasCode, lodge } from '../../../api.ts';
import { Button } from '../../../components/button.tsx';
import { Code } from '../../../components/badge.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { Form } from '../../../components/form/form.tsx';
import { Failure, Notice } from '../../../components/notice.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { visibleName } from '../../../components/words/visible-text.ts';
import { folderOf, joined, problemOf } from './file-paths.ts';
import type { FileAction } from './file-table.tsx';
import { rename, RenameRefused } from './rename.ts';
import { filesRoute } from '../routes.ts';

interface DialogProps {
  readonly agentId: string;
  readonly folder: string;
  readonly action: FileAction;
  readonly onClose: () => void;
}

export function FileDialog({ action, ...props }: DialogProps) {
  if (action.kind === 'delete') return <DeleteDialog {...props} entry={action.entry} />;
  if (action.kind === 'rename') return <RenameDialog {...props} entry={action.entry} />;
  return <NewDialog {...props} kind={action.kind} />;
}

function useFolderChanged(agentId: string): () => void {
  const queryClient = useQueryClient();
  return () => void queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'files', 'folder'] });
}

const takenInWords = {
  precondition_failed: 'Something with this name is there already.',
  file_conflict: 'Something with this name is there already.',
};

interface NameFormProps {
  readonly title: string;
  readonly action: string;
  readonly initial?: string;
  readonly send: (name: string) => Promise<unknown>;
  readonly done: (name: string) => void;
  readonly onClose: () => void;
}

function NameDialog({ title, action, initial = '', send, done, onClose }: NameFormProps) {
  const form = useForm<'name', string>({
    check: (data) => {
      const problem = problemOf(text(data, 'name'));
      return problem === undefined ? {} : { name: problem };
    },
    send: async (data) => {
      const name = text(data, 'name');
      await send(name);
      return name;
    },
    done: (name) => {
      onClose();
      done(name);
    },
  });
  const { failure } = form;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form form={form} className="flex flex-col gap-5">
        <TextField
          label="Name"
          name="name"
          defaultValue={initial}
          maxLength={255}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          data-autofocus
          error={form.problems.name}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        {failure instanceof RenameRefused ? (
          <Notice kind="error" alert>
            {visibleName(failure.message)}
          </Notice>
        ) : (
          <Failure error={failure} here={takenInWords} />
        )}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={form.pending}>
            {action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

type Common = Omit<DialogProps, 'action'>;

function NewDialog({ agentId, folder, kind, onClose }: Common & { readonly kind: 'new-file' | 'new-folder' }) {
  const changed = useFolderChanged(agentId);
  const navigate = filesRoute.useNavigate();
  const isFile = kind === 'new-file';
  return (
    <NameDialog
      title={isFile ? 'New file' : 'New folder'}
      action={isFile ? 'Create file' : 'Create folder'}
      send={(name) =>
        change<unknown>(() =>
          isFile
            ? lodge.files.write(agentId, joined(folder, name), '', { isNew: true })
            : lodge.files.makeFolder(agentId, joined(folder, name)),
        )
      }
      done={(name) => {
        changed();
        const made = joined(folder, name);
        void navigate({ search: isFile ? { file: made } : { path: made } });
      }}
      onClose={onClose}
    />
  );
}

type OfEntry = Common & { readonly entry: AgentFile };

function RenameDialog({ agentId, entry, onClose }: OfEntry) {
  const changed = useFolderChanged(agentId);
  return (
    <NameDialog
      title={`Rename “${visibleName(entry.name)}”`}
      action="Rename"
      initial={entry.name}
      send={async (name) => {
        if (name !== entry.name) await rename(agentId, entry.path, joined(folderOf(entry.path), name));
      }}
      done={(name) => {
        changed();
        toast(`“${visibleName(entry.name)}” is now “${visibleName(name)}”.`);
      }}
      onClose={onClose}
    />
  );
}

function DeleteDialog({ agentId, entry, onClose }: OfEntry) {
  const changed = useFolderChanged(agentId);
  const name = visibleName(entry.name);
  const isFolder = entry.type === 'directory';
  const run = async (): Promise<void> => {
    try {
      await change(() => lodge.files.delete(agentId, entry.path, { recursive: isFolder }));
    } catch (error) {
      // Somebody was faster.
      if (!hasCode(error, 'file_not_found')) throw error;
    }
  };
  return (
    <ConfirmDialog
      title={`Delete “${name}”?`}
      action={isFolder ? 'Delete folder' : 'Delete file'}
      run={run}
      onClose={onClose}
      onDone={() => {
        changed();
        toast(`“${name}” is deleted.`);
      }}
    >
      {isFolder ? 'The folder goes with all that is in it. ' : ''}
      <Code>{visibleName(entry.path)}</Code> cannot be brought back.
    </ConfirmDialog>
  );
}
