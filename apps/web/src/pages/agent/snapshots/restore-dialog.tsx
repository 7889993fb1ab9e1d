import { useQueryClient } from '@tanstack/react-query';
import { beforeLastTurn } from '@lodge/contract/words';
import type { Agent, Snapshot } from '@lodge/sdk';
import { Button } from '../../../components/button.tsx';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { CheckField } from '../../../components/form/check-field.tsx';
import { Form } from '../../../components/form/form.tsx';
import { useForm } from '../../../components/form/use-form.ts';
import { Failure, Notice } from '../../../components/notice.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { formatDateTime } from '../../../format.ts';
import { agentQuery } from '../queries.ts';
import { snapshotChanges } from './queries.ts';
import { titleOf } from './snapshot-words.ts';

interface RestoreProps {
  readonly agent: Agent;
  /** Undefined: the newest one from before the last turn. */
  readonly snapshot?: Snapshot;
  readonly onClose: () => void;
}

/** Takes the agent back, and says before that what goes back and what stays. */
export function RestoreDialog({ agent, snapshot, onClose }: RestoreProps) {
  const form = useRestore(agent, snapshot, onClose);
  const isUndo = snapshot === undefined;
  const title = isUndo ? `Undo the last turn of ${agent.name.slice(0, 60)}?` : `Go back to ${titleOf(snapshot)}?`;
  const then = isUndo
    ? 'in the newest snapshot from before its last turn'
    : `on ${formatDateTime(new Date(snapshot.created_at))}`;
  return (
    <Dialog title={title} onClose={onClose} dismissable={!form.pending}>
      <Form form={form} className="flex flex-col gap-5">
        <div className="flex flex-col gap-2 text-muted">
          <p>
            The machine of {agent.name.slice(0, 60)} becomes as it was {then}: its files, its memory and what it
            remembers of conversations.{' '}
            {agent.status === 'stopped' ? 'It stays stopped, and starts from there next.' : 'It runs afterwards.'}
          </p>
          <p>
            Settings, schedules, channels, waiting messages and usage stay as they are now. Messages that it sent stay
            sent. Its next turn begins with a line that tells it.
          </p>
        </div>
        {isUndo && <p className="text-muted">Whatever it did since that snapshot is undone with the turn.</p>}
        {snapshot?.memory && snapshot.loads === 'disk' && (
          <Notice kind="warning">This host cannot load its memory. The disk is booted instead.</Notice>
        )}
        <CheckField
          label="Save how it is now first"
          name="save_present"
          defaultChecked
          hint="As a snapshot that is kept for 30 days, so that this can be undone. Without it a turn in hand is cut off, and how it is now is lost."
        />
        {snapshot?.loads === 'memory' && (
          <CheckField
            label="Without the memory"
            name="disk_only"
            hint="Its disk is booted: programs that ran then do not run."
          />
        )}
        <Failure error={form.failure} />
        <DialogActions>
          <Button data-autofocus onClick={onClose}>
            Cancel
          </Button>
          <Button variant="danger" type="submit" pending={form.pending}>
            {isUndo ? 'Undo last turn' : 'Go back'}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

function useRestore({ id, name }: Agent, snapshot: Snapshot | undefined, onClose: () => void) {
  const client = useQueryClient();
  return useForm<'save_present', Agent>({
    check: () => ({}),
    send: (data) =>
      snapshotChanges.restore(id, {
        snapshot: snapshot?.id ?? beforeLastTurn,
        ...(!data.has('save_present') && { save_present: false }),
        ...(data.has('disk_only') && { memory: false }),
      }),
    done: async (now) => {
      onClose();
      client.setQueryData(agentQuery(id).queryKey, now);
      toast(`${name} ${doneWords(now)}.`);
      // Its files and all else that its machine tells may be others now.
      await Promise.all([['agent', id], ['agents']].map((queryKey) => client.invalidateQueries({ queryKey })));
    },
  });
}

function doneWords({ status, transition }: Agent): string {
  if (transition !== null || status === 'provisioning') return 'is going back';
  return status === 'stopped' ? 'starts from the snapshot next' : 'is as it was then';
}
