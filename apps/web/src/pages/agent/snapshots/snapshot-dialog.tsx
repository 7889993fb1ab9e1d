import { useQueryClient } from '@tanstack/react-query';
import type { Agent, Snapshot } from '@lodge/sdk';
import { Button } from '../../../components/button.tsx';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { changedParts } from '../../../components/form/changed.ts';
import { CheckField } from '../../../components/form/check-field.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { Form } from '../../../components/form/form.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { Failure, Notice } from '../../../components/notice.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { snapshotChanges, snapshotsKey } from './queries.ts';
import { titleOf } from './snapshot-words.ts';

interface DialogProps {
  readonly agent: Agent;
  /** Undefined: the agent is saved. */
  readonly snapshot?: Snapshot;
  readonly onClose: () => void;
}

/** The name under which the text of the dialog is kept; without an id of the one for a new snapshot. */
export const snapshotDraft = (agentId: string, id = ''): string => `snapshot:${agentId}:${id}`;

/** Saves the agent, or changes name and note of a snapshot. */
export function SnapshotDialog({ agent, snapshot, onClose }: DialogProps) {
  const form = useSnapshotForm(agent, snapshot, onClose);
  const title = snapshot === undefined ? `Save ${agent.name}` : `Change ${titleOf(snapshot)}`;
  return (
    <Dialog title={title} onClose={onClose} dismissable={!form.pending}>
      <Form form={form} className="flex flex-col gap-5">
        <TextField
          label="Name"
          name="name"
          optional
          data-autofocus
          maxLength={100}
          autoComplete="off"
          placeholder="Before the move"
          defaultValue={snapshot?.name ?? ''}
        />
        <TextAreaField
          label="Note"
          name="note"
          optional
          rows={3}
          maxLength={2000}
          defaultValue={snapshot?.note ?? ''}
        />
        {snapshot === undefined && <MemoryField status={agent.status} />}
        <CheckField
          label="Keep it beyond the agent"
          name="pinned"
          defaultChecked={snapshot?.pinned ?? false}
          hint="Deleting the agent deletes its other snapshots."
        />
        <Failure error={form.failure} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" pending={form.pending}>
            {snapshot === undefined ? 'Save snapshot' : 'Save changes'}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

function MemoryField({ status }: Pick<Agent, 'status'>) {
  if (status === 'error') {
    return <Notice kind="info">The machine is in error: its disk alone is left to save.</Notice>;
  }
  return (
    <CheckField
      label="With its memory"
      name="memory"
      defaultChecked
      hint="A turn in hand ends first, and messages wait for a moment. Without it the disk alone is saved, at once."
    />
  );
}

const bodyOf = (data: FormData) => ({
  name: text(data, 'name').trim() || null,
  note: text(data, 'note').trim() === '' ? null : text(data, 'note'),
  pinned: data.has('pinned'),
});

function useSnapshotForm(agent: Agent, snapshot: Snapshot | undefined, onClose: () => void) {
  const client = useQueryClient();
  return useForm<'name' | 'note', Snapshot>({
    keep: snapshotDraft(agent.id, snapshot?.id),
    check: () => ({}),
    send: (data, before) =>
      snapshot === undefined
        ? snapshotChanges.create(agent.id, { ...bodyOf(data), memory: data.has('memory') })
        : snapshotChanges.update(snapshot.id, changedParts(bodyOf(before), bodyOf(data))),
    done: async ({ status }) => {
      onClose();
      const made = status === 'saving' ? 'The snapshot is being saved.' : 'The snapshot is saved.';
      toast(snapshot === undefined ? made : 'The snapshot is changed.');
      await client.invalidateQueries({ queryKey: snapshotsKey(agent.id) });
    },
  });
}
