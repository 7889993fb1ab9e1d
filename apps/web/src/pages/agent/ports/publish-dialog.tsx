import type { Port } from '@lodge/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { Button } from '../../../components/button.tsx';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { Form } from '../../../components/form/form.tsx';
import { Failure } from '../../../components/notice.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { portChanges } from './queries.ts';

export const portDraft = (agentId: string): string => `port:${agentId}`;

export function PublishDialog({ agentId, onClose }: { readonly agentId: string; readonly onClose: () => void }) {
  const queryClient = useQueryClient();
  const form = useForm<'port', Port>({
    keep: portDraft(agentId),
    check: (data) => {
      const port = text(data, 'port').trim();
      const isPort = /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
      return isPort ? {} : { port: 'Enter a number from 1 to 65535.' };
    },
    send: (data) =>
      portChanges(agentId).publish({ port: Number(text(data, 'port')), public: text(data, 'who') === 'public' }),
    done: ({ port }) => {
      toast(`Port ${port} is published.`);
      void queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'ports'] });
      onClose();
    },
  });
  return (
    <Dialog
      title="Publish a port"
      description="An HTTP server of the agent gets an address of its own. It must listen on 0.0.0.0, not on loopback alone."
      onClose={onClose}
    >
      <Form form={form} className="flex flex-col gap-5">
        <TextField
          label="Port"
          name="port"
          inputMode="numeric"
          maxLength={5}
          autoComplete="off"
          placeholder="3000"
          data-autofocus=""
          error={form.problems.port}
        />
        <ChoiceField
          legend="Who reaches it"
          name="who"
          defaultValue="private"
          choices={[
            { value: 'private', label: 'Those with a key or a link' },
            { value: 'public', label: 'Anybody', meaning: 'Whoever knows the address. Nothing is asked for.' },
          ]}
        />
        <Failure error={form.failure} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={form.pending}>
            Publish port
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
