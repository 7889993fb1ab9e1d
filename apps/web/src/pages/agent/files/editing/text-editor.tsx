import { Save } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Button } from '../../../../components/button.tsx';
import { Dialog, DialogActions } from '../../../../components/dialogs/dialog.tsx';
import { Failure, Notice } from '../../../../components/notice.tsx';
import { visibleName } from '../../../../components/words/visible-text.ts';
import { nameOf } from '../file-paths.ts';
import { useEditing } from './use-editing.ts';
import type { Conflict, Edited } from './use-editing.ts';

/** Edits a text file. It saves only over the version that was opened, so nobody's change is lost unseen. */
export function TextEditor({ mayWrite, ...file }: Edited & { readonly mayWrite: boolean }) {
  const editing = useEditing(file);
  const { typed, isChanged, conflict, blocker } = editing;
  useSaveKeys(mayWrite, () => {
    if (isChanged) editing.save();
  });
  return (
    <div className="flex flex-col gap-3">
      {editing.isRestored && isChanged && conflict === null && (
        <Notice kind="info">What you had typed here before and not saved is back.</Notice>
      )}
      {editing.isMixed && mayWrite && (
        <Notice kind="warning">The lines of this file end in different ways. Saving makes them one kind.</Notice>
      )}
      <Failure error={editing.error} />
      {conflict !== null && (
        <ConflictNotice
          conflict={conflict}
          isSaving={editing.isSaving}
          saveOver={editing.saveOver}
          takeTheirs={editing.takeTheirs}
        />
      )}
      <textarea
        aria-label={`Contents of ${visibleName(nameOf(file.path))}`}
        value={typed}
        readOnly={!mayWrite}
        onChange={({ target }) => editing.type(target.value)}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        dir="auto"
        className="h-[calc(100dvh-24rem)] min-h-80 w-full resize-y rounded-card border border-line bg-surface p-4 font-mono text-[0.8125rem] leading-5 shadow-card max-sm:text-base"
      />
      {mayWrite && (
        <div className="flex items-center justify-end gap-3">
          <span role="status" className="text-muted">
            {isChanged ? 'Not saved yet' : 'Saved'}
          </span>
          <Button
            variant="primary"
            pending={editing.isSaving}
            aria-disabled={!isChanged || conflict !== null || undefined}
            onClick={() => {
              if (isChanged) editing.save();
            }}
          >
            <Save aria-hidden className="size-4" />
            Save
          </Button>
        </div>
      )}
      {blocker.status === 'blocked' && <LeaveDialog stay={blocker.reset} leave={blocker.proceed} />}
    </div>
  );
}

/** Saves by Ctrl+S wherever the focus is on the page: the browser's own meaning of it helps nobody here. */
function useSaveKeys(mayWrite: boolean, save: () => void): void {
  const latest = useRef(save);
  latest.current = save;
  useEffect(() => {
    if (!mayWrite) return;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [mayWrite]);
}

function LeaveDialog({ stay, leave }: { stay: () => void; leave: () => void }) {
  return (
    <Dialog title="Leave without saving?" onClose={stay}>
      <p className="text-muted">
        What you typed is not in the file yet. It waits in this browser tab, and is back when you open the file again.
      </p>
      <DialogActions>
        <Button data-autofocus onClick={stay}>
          Stay
        </Button>
        <Button variant="danger" onClick={leave}>
          Leave
        </Button>
      </DialogActions>
    </Dialog>
  );
}

interface ConflictProps {
  readonly conflict: Conflict;
  readonly isSaving: boolean;
  readonly saveOver: () => void;
  readonly takeTheirs: () => void;
}

function ConflictNotice({ conflict, isSaving, saveOver, takeTheirs }: ConflictProps) {
  const isGone = conflict.etag === null;
  return (
    <div role="alert" className="flex flex-col gap-3 rounded-control bg-warn-soft px-4 py-3">
      <p>
        <strong className="font-semibold">
          {isGone ? 'The file was removed meanwhile.' : 'The file was changed meanwhile.'}
        </strong>{' '}
        The agent or somebody else did it. What you typed is still here, and not in the file.
      </p>
      {conflict.text !== null && (
        <details>
          <summary className="w-fit font-medium">Show what the file holds now</summary>
          <textarea
            aria-label="What the file holds now"
            readOnly
            value={conflict.text}
            className="mt-2 h-48 w-full resize-y rounded-control border border-line bg-surface p-3 font-mono text-[0.8125rem]"
          />
        </details>
      )}
      <div className="flex flex-wrap gap-2">
        <Button small pending={isSaving} onClick={saveOver}>
          {isGone ? 'Save it anew' : 'Save mine over it'}
        </Button>
        {conflict.text !== null && (
          <Button small onClick={takeTheirs}>
            Drop mine, take what is there
          </Button>
        )}
      </div>
    </div>
  );
}
