import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Agent } from '@lodge/sdk';
import { change, hasCode, lodge } from '../../../api.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { Failure } from '../../../components/notice.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { putAgentRow } from '../../agents/queries.ts';

/** Actions that cannot be undone. */
export function DangerZone({ agent }: { readonly agent: Agent }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section className="flex flex-wrap items-center justify-between gap-4 rounded-card border border-danger/40 bg-surface p-5 shadow-card sm:p-6">
      <div className="flex max-w-md flex-col gap-1">
        <h3 className="text-base font-semibold">Delete this agent</h3>
        <p className="text-muted">
          Its machine, files, conversations, channels and schedules are gone for good. Its usage stays in the reports.
        </p>
      </div>
      <Button variant="danger" onClick={() => setIsOpen(true)}>
        <Trash2 aria-hidden className="size-4" />
        Delete agent
      </Button>
      {isOpen && <DeleteDialog agent={agent} onClose={() => setIsOpen(false)} />}
    </section>
  );
}

function useDelete({ id, name }: Agent) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async () => {
      try {
        await change(() => lodge.agents.delete(id));
      } catch (error) {
        if (!hasCode(error, 'agent_not_found')) throw error;
      }
    },
    onSuccess: async () => {
      await navigate({ to: '/agents', replace: true });
      client.removeQueries({ queryKey: ['agent', id] });
      putAgentRow(client, id, null);
      void client.invalidateQueries({ queryKey: ['agents'] });
      toast(`${name} is deleted.`);
    },
  });
}

function DeleteDialog({ agent, onClose }: { readonly agent: Agent; readonly onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [isWrong, setIsWrong] = useState(false);
  const name = agent.name.trim();
  const remove = useDelete(agent);
  return (
    <Dialog
      title={`Delete ${name}?`}
      description="Its machine, files and conversations cannot be brought back."
      onClose={onClose}
      dismissable={!remove.isPending}
    >
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() !== name) setIsWrong(true);
          else if (!remove.isPending) remove.mutate();
        }}
      >
        <TextField
          label={`Type ${name} to confirm`}
          data-autofocus=""
          autoComplete="off"
          spellCheck={false}
          maxLength={120}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setIsWrong(false);
          }}
          error={isWrong ? 'That is not its name.' : undefined}
        />
        <Failure error={remove.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="danger" pending={remove.isPending}>
            {remove.isPending ? 'Deleting…' : 'Delete agent'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
