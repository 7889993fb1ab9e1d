import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { change, lodge } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { SelectField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure } from '../../components/notice.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { webhooksQuery } from './queries.ts';
import { SecretShown } from './secret-shown.tsx';

const overlaps = [
  [0, 'It stops at once'],
  [3600, 'An hour'],
  [86_400, 'A day'],
  [604_800, 'A week'],
] as const;

/** Gives a webhook another secret. For a while both sign, so that no event is lost on the way. */
export function RotateDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const queryClient = useQueryClient();
  const [secret, setSecret] = useState<string>();
  const form = useForm({
    check: () => ({}),
    send: (data) => change(() => lodge.webhooks.rotate(id, { overlap_seconds: Number(text(data, 'overlap')) })),
    done: ({ secret: made }) => {
      setSecret(made);
      void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
    },
  });
  if (secret !== undefined) {
    return <SecretShown secret={secret} onClose={onClose} />;
  }
  return (
    <Dialog
      title="Make a new secret"
      description="While the earlier secret still signs, each event has both signatures, and your server may know either."
      onClose={onClose}
      step="form"
    >
      <Form form={form} className="flex flex-col gap-5">
        <Failure error={form.failure} />
        <SelectField label="How long the earlier secret signs" name="overlap" defaultValue="86400" data-autofocus="">
          {overlaps.map(([seconds, name]) => (
            <option key={seconds} value={seconds}>
              {name}
            </option>
          ))}
        </SelectField>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={form.pending}>
            Make new secret
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
