import type { Schedule } from '@lodge/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Failure } from '../../../components/notice.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { runsKey, scheduleChanges } from './queries.ts';

interface VerbsProps {
  readonly schedule: Schedule;
  readonly onEdit: () => void;
  readonly onDeleted: () => void;
}

export function ScheduleVerbs({ schedule, onEdit, onDeleted }: VerbsProps) {
  const { agent_id: agentId, id, enabled } = schedule;
  const queryClient = useQueryClient();
  const changes = scheduleChanges(agentId);
  const [deleting, setDeleting] = useState(false);
  const again = () => queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'schedules'] });
  const run = useMutation({
    mutationFn: () => changes.run(id),
    onSuccess: () => toast('It is asked to run.'),
    onSettled: () => Promise.all([again(), queryClient.invalidateQueries({ queryKey: runsKey(agentId, id) })]),
  });
  const turn = useMutation({
    mutationFn: () => changes.update(id, { enabled: !enabled }),
    onSuccess: () => toast(enabled ? 'The schedule is off.' : 'The schedule is on.'),
    onSettled: again,
  });
  return (
    <div className="flex flex-col items-end gap-2">
      <div className="flex flex-wrap gap-2">
        <Button small variant="primary" pending={run.isPending} onClick={() => run.mutate()}>
          Run now
        </Button>
        <Button small pending={turn.isPending} onClick={() => turn.mutate()}>
          {enabled ? 'Turn off' : 'Turn on'}
        </Button>
        <Button small onClick={onEdit}>
          Edit
        </Button>
        <Button small variant="ghost-danger" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </div>
      <Failure error={run.error ?? turn.error} />
      {deleting && (
        <ConfirmDialog
          title="Delete this schedule?"
          action="Delete schedule"
          run={() => changes.remove(id)}
          onClose={() => setDeleting(false)}
          onDone={() => {
            toast('The schedule is deleted.');
            void again();
            onDeleted();
          }}
        >
          Its times and its runs are gone with it.
        </ConfirmDialog>
      )}
    </div>
  );
}
